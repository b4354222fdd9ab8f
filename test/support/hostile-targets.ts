import type { Random } from './random.js';

const words = (text: string): string[] => text.split(' ');

const ODD_SEGMENTS = [
  ...words('% %zz %0 %00 %ff %c0%af %ED%A0%80 %2e%2e %2F %u0041 %0d%0a %25'),
  ...words('.. . ;a=b \\ \'"<> ~ {} | ^ ` * : @ +'),
  '',
];
const BASES = words('/v1 /v1 /v1 /%76%31 /%761 http://evil.example/v1 HTTPS://u:p@[::1]:9/v1');
const PATHS = words(
  '/ /pets/ //pets /PETS /nope /%70ets /pets/1/2 /docs /pets/0 /pets/-1 /pets/01',
);
const IDS = words('1.0 1e3 9223372036854775807 9223372036854775808');
const OTHER_PATHS = words(
  '/ /docs /docs/nope /openapi.json /health/live /health/nope /metrics * /v2/pets //v1/pets /V1/pets /v1pets /.env',
);
const PARAMETERS = [
  ...words('limit status cursor x __proto__ constructor limit[] a[b][c] %zz'),
  '',
];
const VALUES = [
  ...words('0 1 100 101 -1 +5 05 1e1 5.0 NaN sold SOLD OjE c29sZDox'),
  '9'.repeat(30),
];

/** A syntactically valid request target, below `/v1` or outside it. */
export function hostileTarget(random: Random): { target: string; isApi: boolean } {
  const isApi = random.chance(0.85);
  const path = isApi ? random.pick(BASES) + apiPath(random) : otherPath(random);
  return { target: path + query(random), isApi };
}

function apiPath(random: Random): string {
  return random.oneOf(
    () => '/pets',
    () => '/pets/1',
    () => random.pick([...PATHS, '']),
    () => `/pets/${random.pick([...IDS, '9'.repeat(400)])}`,
    () => `/${random.pick(['pets/', ''])}${oddPath(random)}`,
    () => `/pets/${'a'.repeat(random.below(9_000))}`,
  );
}

function otherPath(random: Random): string {
  return random.oneOf(
    () => random.pick(OTHER_PATHS),
    () => `/docs/${oddPath(random)}`,
    () => `/w/${oddPath(random)}`,
  );
}

function oddPath(random: Random): string {
  const segments = random.times(1 + random.below(4), () => random.pick(ODD_SEGMENTS));
  return segments.join(random.pick(['', '/']));
}

function query(random: Random): string {
  if (random.chance(0.5)) return random.chance(0.1) ? '#fragment' : '';
  const pairs = random.times(random.chance(0.05) ? 400 : random.below(4), () => {
    const value = random.pick(random.chance(0.3) ? ODD_SEGMENTS : VALUES);
    return `${random.pick(PARAMETERS)}${random.pick(['=', '=', '', '=='])}${value}`;
  });
  return `?${pairs.join(random.pick(['&', '&', ';', '&&', '?']))}`;
}
