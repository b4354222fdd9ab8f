import { defineErrors } from 'pet-store-service';

export const orderErrors = defineErrors({
  order_not_found: { status: 404, meaning: 'There is no such order.' },
  order_closed: { status: 409, meaning: 'The order is already completed or cancelled.' },
  pet_not_available: { status: 409, meaning: 'The pet cannot be ordered now.' },
});
