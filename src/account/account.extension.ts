import { defineExtension } from '../extensions/define.js';
import { AccountModule } from './account.module.js';

/** The client's own key and usage. */
export const accountExtension = defineExtension({
  name: 'account',
  compatibility: '*',
  module: AccountModule,
  scopes: { 'key:rotate': 'Rotate the key itself.' },
  tags: {
    key: 'The API key that sends the request.',
    usage: 'Plan, scopes and quota of an API key.',
  },
  from: import.meta.url,
});
