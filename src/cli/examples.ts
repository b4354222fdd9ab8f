/** How a command is used, by its path: below its help. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  petstore: [
    'petstore serve',
    'petstore keys issue --name "City zoo" --plan pro',
    'petstore keys list --status banned',
    'petstore keys usage KEY_ID',
  ],
  'petstore serve': [
    'petstore serve',
    'PORT=8080 petstore serve',
    'DATABASE_URL=postgres://petstore@db/petstore REDIS_URL=redis://cache petstore serve',
  ],
  'petstore migrate': ['DATABASE_URL=postgres://petstore@db/petstore petstore migrate'],
  'petstore seed': ['petstore seed --pets 100000'],
  'petstore openapi': ['petstore openapi --format yaml > openapi.yaml'],
  'petstore doctor': ['petstore doctor', 'petstore doctor --json'],
  'petstore backup': [
    'petstore backup /var/backups/petstore.db',
    'petstore backup "petstore-$(date +%F).db"',
  ],
  'petstore restore': ['petstore restore /var/backups/petstore.db'],
  'petstore new': ['petstore new extension store-orders'],
  'petstore new extension': ['petstore new extension store-orders'],
  'petstore completion': [
    'source <(petstore completion bash)',
    'petstore completion fish | source',
  ],
  'petstore keys': [
    'petstore keys issue --name "City zoo" --plan free',
    'petstore keys list --search zoo',
    'petstore keys rotate KEY_ID --grace 24h',
  ],
  'petstore keys issue': [
    'petstore keys issue --name "City zoo" --plan free',
    'petstore keys issue --name Reports --plan pro --scopes pets:read --expires-at 2030-12-31',
    'petstore keys issue --name Partner --plan enterprise --per-minute 5000 --per-day 1000000',
  ],
  'petstore keys list': [
    'petstore keys list --plan pro --status active',
    'petstore keys list --limit 50 --after KEY_ID',
    'petstore keys list --idle 90',
    "petstore keys list --json | jq -r '.[].id'",
  ],
  'petstore keys show': ['petstore keys show KEY_ID'],
  'petstore keys usage': ['petstore keys usage KEY_ID', 'petstore keys usage KEY_ID --json'],
  'petstore keys rotate': ['petstore keys rotate KEY_ID', 'petstore keys rotate KEY_ID --grace 0s'],
  'petstore keys revoke': ['petstore keys revoke KEY_ID', 'petstore keys revoke KEY_ID --yes'],
  'petstore keys unban': ['petstore keys unban KEY_ID'],
  'petstore keys set-plan': [
    'petstore keys set-plan KEY_ID --plan business',
    'petstore keys set-plan KEY_ID --plan enterprise --per-minute 5000 --per-day 1000000',
  ],
  'petstore keys set-scopes': ['petstore keys set-scopes KEY_ID --scopes pets:read'],
  'petstore keys audit': ['petstore keys audit', 'petstore keys audit KEY_ID --limit 20'],
};
