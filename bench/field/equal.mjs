// Checks that two servers do the same work: their responses have to be equal.

/** Headers of a kept connection, which not every server sends. */
const OF_CONNECTION = /^(connection|keep-alive)$/;
/** Headers whose value differs from request to request, or with the cursor that an ETag covers. */
const CHANGING = /^(date|etag|x-request-id|ratelimit|x-ratelimit-\w+)$/;
const CREATE = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"name":"Rex","categoryId":7}',
};

/** @throws if a status, a header or a body differs */
export async function assertEqualResponses(one, other, key) {
  const [expected, actual] = [await responsesOf(one, key), await responsesOf(other, key)];
  for (const [index, response] of actual.entries()) {
    if (response === expected[index]) continue;
    throw new Error(`${other.name} responds differently:\n${expected[index]}\n${response}`);
  }
}

/** The responses to all requests, and the second page, to which the first has a link. */
async function responsesOf({ port }, key) {
  const responses = [];
  const send = async (path, { headers, ...options } = {}) => {
    const authorization = `Bearer ${key}`;
    const url = `http://127.0.0.1:${port}${path}`;
    const response = await fetch(url, { ...options, headers: { authorization, ...headers } });
    responses.push(await describe(response));
    return response.headers.get('link');
  };
  const link = await send('/v1/pets?limit=20');
  const [, second] = /<http:\/\/[^/]*(.*)>; rel="next"/.exec(link);
  await send(second);
  await send('/v1/pets/7');
  await send('/v1/pets', CREATE);
  return responses;
}

async function describe(response) {
  const body = await response.text();
  const fields = [...response.headers]
    .filter(([name]) => !OF_CONNECTION.test(name))
    .map(([name, value]) => (CHANGING.test(name) ? name : `${name}: ${value}`))
    .sort();
  // Each server has cursors of its own, and each database assigns its own ids.
  const text = [response.status, ...fields, body].join('\n').replace(/cursor=[\w-]+/g, 'cursor');
  return response.status === 201 ? text.replaceAll(String(JSON.parse(body).id), 'ID') : text;
}
