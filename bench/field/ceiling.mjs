// The ceiling: node:http with a constant response of the size of a page.
import { createServer } from 'node:http';

const [, , bytes, port] = process.argv;
const body = 'x'.repeat(Number(bytes));
createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
  response.end(body);
}).listen(Number(port), '127.0.0.1');
