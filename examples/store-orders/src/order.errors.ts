import { defineErrors } from 'pet-store-service';

export const orderErrors = defineErrors({
  order_not_found: { status: 404, meaning: 'There is no such order.' },
  order_closed: { status: 409, meaning: 'The order is completed or cancelled already.' },
  pet_not_available: { status: 409, meaning: 'The animal cannot be ordered now.' },
});
