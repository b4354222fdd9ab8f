import { defineErrors } from 'pet-store-service';

export const photoErrors = defineErrors({
  photo_not_found: { status: 404, meaning: 'The pet has no such photo.' },
  too_many_photos: { status: 409, meaning: 'The pet has as many photos as it may have.' },
  range_not_satisfiable: { status: 416, meaning: 'The range begins after the end of the photo.' },
  not_a_photo: {
    status: 422,
    meaning: 'The content of the body is no PNG or JPEG picture, or has too many pixels.',
  },
});
