import { Deprecated } from './deprecation.js';

it.each(['since', 'sunset'])('@Deprecated() rejects an invalid %s with the successor', (member) => {
  const successor = { path: '/visits', hint: 'with limit=1' };
  const dates = { since: new Date(0), sunset: new Date(0), [member]: new Date('x') };
  expect(() => Deprecated({ ...dates, successor })).toThrow(
    '@Deprecated() for /visits: since and sunset must be valid',
  );
});
