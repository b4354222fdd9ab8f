const quote = JSON.stringify;
const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const lines = (...parts) => parts.flat().join('\n');

/**
 * Programs that send a request and print the response, by language. The key is in
 * PETSTORE_API_KEY.
 */
export const LANGUAGES = {
  curl: ({ method, url, headers, body }) =>
    [
      `curl ${method === 'GET' ? '' : `--request ${method} `}${shell(url)}`,
      '--header "Authorization: Bearer $PETSTORE_API_KEY"',
      ...headers.map((header) => `--header ${shell(header.join(': '))}`),
      ...(body === undefined ? [] : [`--data ${shell(body)}`]),
    ].join(' \\\n  '),
  JavaScript: ({ method, url, headers, body }) =>
    lines(
      `const response = await fetch(${quote(url)}, {`,
      `  method: ${quote(method)},`,
      '  headers: {',
      '    Authorization: `Bearer ${process.env.PETSTORE_API_KEY}`,',
      headers.map(([name, value]) => `    ${quote(name)}: ${quote(value)},`),
      '  },',
      body === undefined ? [] : `  body: ${quote(body)},`,
      '});',
      'console.log(response.status, await response.text());',
    ),
  Python: ({ method, url, headers, body }) =>
    lines(
      'import os, urllib.request\n',
      'request = urllib.request.Request(',
      `    ${quote(url)},`,
      `    method=${quote(method)},`,
      '    headers={',
      '        "Authorization": "Bearer " + os.environ["PETSTORE_API_KEY"],',
      headers.map(([name, value]) => `        ${quote(name)}: ${quote(value)},`),
      '    },',
      body === undefined ? [] : `    data=${quote(body)}.encode(),`,
      ')',
      'with urllib.request.urlopen(request) as response:',
      '    print(response.status, response.read().decode())',
    ),
  Go: ({ method, url, headers, body = '' }) =>
    lines(
      'package main\n',
      'import (\n\t"fmt"\n\t"io"\n\t"net/http"\n\t"os"\n\t"strings"\n)\n',
      'func main() {',
      `\tbody := strings.NewReader(${quote(body)})`,
      `\trequest, _ := http.NewRequest(${quote(method)}, ${quote(url)}, body)`,
      '\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("PETSTORE_API_KEY"))',
      headers.map((header) => `\trequest.Header.Set(${header.map(quote).join(', ')})`),
      '\tresponse, err := http.DefaultClient.Do(request)',
      '\tif err != nil {\n\t\tpanic(err)\n\t}',
      '\ttext, _ := io.ReadAll(response.Body)',
      '\tfmt.Println(response.StatusCode, string(text))',
      '}',
    ),
  Java: ({ method, url, headers, body = '' }) =>
    lines(
      'import java.net.URI;\nimport java.net.http.*;\n',
      'class Main {',
      '  public static void main(String[] arguments) throws Exception {',
      `    var request = HttpRequest.newBuilder(URI.create(${quote(url)}))`,
      '        .header("Authorization", "Bearer " + System.getenv("PETSTORE_API_KEY"))',
      headers.map((header) => `        .header(${header.map(quote).join(', ')})`),
      `        .method(${quote(method)}, HttpRequest.BodyPublishers.ofString(${quote(body)}))`,
      '        .build();',
      '    var text = HttpResponse.BodyHandlers.ofString();',
      '    var response = HttpClient.newHttpClient().send(request, text);',
      '    System.out.println(response.statusCode() + " " + response.body());',
      '  }',
      '}',
    ),
};

/**
 * A parameter of the documented operation is part of the request if it has an example or a default.
 */
const valueOf = ({ example, schema = {} }) => example ?? schema.example ?? schema.default;

export function requestOf({ parameters = [], requestBody }, path, method, server, sample) {
  const given = parameters.filter((each) => valueOf(each) !== undefined);
  const ofPlace = (place) => given.filter((each) => each.in === place);
  const target = ofPlace('path').reduce(
    (all, each) => all.replace(`{${each.name}}`, encodeURIComponent(valueOf(each))),
    path,
  );
  const query = new URLSearchParams(ofPlace('query').map((each) => [each.name, valueOf(each)]));
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const example = media && (media.example ?? sample(media.schema, type));
  return {
    method: method.toUpperCase(),
    url: `${server}${target}${query.size > 0 ? `?${query}` : ''}`,
    headers: [
      ...ofPlace('header').map((each) => [each.name, String(valueOf(each))]),
      ...(type === undefined ? [] : [['Content-Type', type]]),
    ],
    body: typeof example === 'object' ? JSON.stringify(example) : example?.replace(/\n\s*/g, ''),
  };
}

/** Plugin of Swagger UI: code samples of each operation, generated from the document. */
export function Samples(system) {
  const { createElement: h, Fragment, useState } = system.React;
  function CodeSamples({ path, method, getComponent }) {
    const [language, setLanguage] = useState('curl');
    const { specSelectors, oas3Selectors, fn } = system.getSystem();
    const operation = specSelectors.specResolvedSubtree(['paths', path, method])?.toJS();
    if (operation === undefined) return null;
    const server = operation.servers?.[0].url ?? oas3Selectors.selectedServer();
    const request = requestOf(operation, path, method, server, fn.getSampleSchema);
    const tab = (name) =>
      h(
        'button',
        { type: 'button', 'aria-pressed': name === language, onClick: () => setLanguage(name) },
        name,
      );
    return h(
      'details',
      { className: 'samples' },
      h('summary', null, 'Code samples'),
      h('div', { className: 'languages' }, ...Object.keys(LANGUAGES).map(tab)),
      h(
        getComponent('HighlightCode', true),
        { language: language === 'curl' ? 'bash' : language.toLowerCase(), canCopy: true },
        LANGUAGES[language](request),
      ),
    );
  }

  return {
    wrapComponents: {
      responses: (Original) => (props) =>
        h(Fragment, null, h(CodeSamples, props), h(Original, props)),
    },
  };
}
