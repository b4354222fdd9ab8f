import { defineErrors } from '../core/errors/api-error.js';

export const petErrors = defineErrors({
  pet_not_found: { status: 404, meaning: 'There is no such pet.' },
});
