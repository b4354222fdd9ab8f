import { defineConfig } from 'pet-store-service';
import { storeMcp } from 'store-mcp';

// Operation ids of /openapi.json. Those of other extensions can be listed as well.
export default defineConfig({
  extensions: [storeMcp({ operations: ['listPets', 'createPet', 'getUsage'] })],
});
