import { IsOptional, Matches } from 'class-validator';

const URLS = /^https?:\/\/[^\s,]+(?:,https?:\/\/[^\s,]+)*$/;
/** As Standard Webhooks specifies it: 24 to 64 bytes in Base64. */
const SECRET = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/;

export class WebhookSettings {
  @Matches(URLS, { message: 'WEBHOOKS_URLS must be http or https URLs, separated by commas' })
  webhooksUrls!: string;

  /** Endpoints of the operator, for events of keys; default: all endpoints. */
  @IsOptional()
  @Matches(URLS, {
    message: 'WEBHOOKS_OPERATOR_URLS must be http or https URLs, separated by commas',
  })
  webhooksOperatorUrls?: string;

  @Matches(SECRET, { message: 'WEBHOOKS_SECRET must be whsec_ and 24 to 64 bytes in Base64' })
  webhooksSecret!: string;
}
