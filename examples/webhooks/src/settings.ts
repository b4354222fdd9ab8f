import { Transform } from 'class-transformer';
import { IsOptional, Matches, ValidateBy } from 'class-validator';

/** As Standard Webhooks specifies it: 24 to 64 bytes in Base64. */
const SECRET = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/;

const AsList = Transform(({ value }: { value: string }) => value.split(','));
const AreEndpoints = ValidateBy(
  { name: 'areEndpoints', validator: { validate: isEndpoint } },
  {
    each: true,
    message: '$property must be http or https URLs without credentials, separated by commas',
  },
);

export class WebhookSettings {
  @AsList
  @AreEndpoints
  webhooksUrls!: string[];

  /** Endpoints of the operator, for events of keys; default: all endpoints. */
  @IsOptional()
  @AsList
  @AreEndpoints
  webhooksOperatorUrls?: string[];

  @Matches(SECRET, { message: '$property must be whsec_ and 24 to 64 bytes in Base64' })
  webhooksSecret!: string;
}

/** `fetch` rejects credentials in a URL. */
function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username + password === '';
}
