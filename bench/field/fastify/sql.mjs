/** The columns of an animal, named as in the API. */
export const COLUMNS = 'id, name, category_id AS "categoryId", status';

export const FIND_KEY = `SELECT id AS "keyId", client_id AS subject,
  per_minute AS "perMinute", per_day AS "perDay" FROM api_keys WHERE digest = $1`;
