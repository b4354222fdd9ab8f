const fence = (language, text) => `\`\`\`${language}\n${text}\n\`\`\``;
const json = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

function line(name, { type, format, enum: values, default: value, description }, ...notes) {
  const facts = [
    values ? values.map((each) => `\`${each}\``).join(', ') : type,
    format,
    ...notes,
    value !== undefined && `default \`${value}\``,
  ].filter(Boolean);
  return `- \`${name}\` (${facts.join('; ')})${description ? `: ${description}` : ''}`;
}

function parametersOf({ parameters = [] }) {
  return parameters.map(({ name, in: place, required, description, schema = {} }) =>
    line(name, { ...schema, description }, place, required && 'required'),
  );
}

function membersOf(body) {
  const [{ schema } = {}] = Object.values(body?.content ?? {});
  const { properties = {}, required = [] } = schema ?? {};
  return Object.entries(properties).map(([name, member]) =>
    line(name, member, required.includes(name) && 'required'),
  );
}

function responseOf([status, { description, content = {} }]) {
  const codes = Object.keys(Object.values(content)[0]?.examples ?? {});
  const list = codes.length > 0 ? ` Codes: ${codes.map((code) => `\`${code}\``).join(', ')}.` : '';
  return `- ${status}: ${description}${list}`;
}

/**
 * An operation as Markdown, generated from the document.
 * @param operation resolved
 * @param target method and URL
 * @param command a curl command for the operation
 * @param example of the body of a successful response
 */
export function operationMarkdown(operation, target, command, example) {
  const { summary, operationId, description, deprecated, requestBody, responses } = operation;
  const section = (title, items) => items.length > 0 && [`## ${title}`, items.join('\n')];
  return [
    `# ${summary ?? operationId}`,
    `\`${target}\``,
    deprecated &&
      `Deprecated, to be removed on ${operation['x-sunset']}. Use ${operation['x-replaced-by']}.`,
    description,
    section('Parameters', parametersOf(operation)),
    section('Body', membersOf(requestBody)),
    ['## Example', fence('sh', command)],
    example !== undefined && fence('json', json(example)),
    section('Responses', Object.entries(responses).map(responseOf)),
  ]
    .flat()
    .filter(Boolean)
    .join('\n\n')
    .concat('\n');
}
