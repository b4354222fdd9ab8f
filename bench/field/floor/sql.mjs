/** An animal's columns as the API names them. */
export const COLUMNS = 'id, name, category_id AS "categoryId", status';

export const FIND_KEY = `SELECT client_id AS subject, per_minute AS "perMinute", per_day AS "perDay"
  FROM api_keys WHERE digest = $1`;
