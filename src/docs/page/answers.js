import { indentJson } from './json-text.js';

/** The error codes that the guide for clients explains. */
const explained = document.querySelector('#swagger-ui').dataset.explained.split(' ');

/** The cursor in the `Link` to the next page. The links of the admin API are relative. */
function nextCursor(link = '') {
  const target = /<([^>]*)>;[^,]*\brel="?next"?/.exec(link)?.[1];
  return target && new URL(target, location.href).searchParams.get('cursor');
}

function codeOf(response) {
  if (!(response.get('status') >= 400)) return undefined;
  try {
    return JSON.parse(response.get('text')).code;
  } catch {
    return undefined;
  }
}

/** Plugin of Swagger UI: exact JSON, a button for the next page, a link to the guide for errors. */
export function Answers(system) {
  const { createElement: h, Fragment } = system.React;

  function NextPage({ path, method, cursor }) {
    const { specActions, specSelectors } = system.getSystem();
    const operation = specSelectors.specResolvedSubtree(['paths', path, method]);
    const follow = () => {
      specActions.changeParam([path, method], 'cursor', 'query', cursor, false);
      specActions.execute({ operation, path, method });
    };
    return h('button', { className: 'btn next-page', onClick: follow }, 'Next page');
  }

  function Body({ content, url, getComponent }) {
    const fileName = `${new URL(url, location.href).pathname.split('/').at(-1)}.json`;
    const options = { language: 'json', downloadable: true, fileName, canCopy: true };
    const code = h(getComponent('HighlightCode', true), options, indentJson(content));
    return h('div', null, h('h5', null, 'Response body'), code);
  }

  function Advice({ code }) {
    const href = `/docs/guides/clients#${code}`;
    return h('p', { className: 'advice' }, h('a', { href }, `What to do about ${code}`));
  }

  return {
    wrapComponents: {
      responseBody: (Original) => (props) =>
        /json/i.test(props.contentType) && typeof props.content === 'string'
          ? h(Body, props)
          : h(Original, props),
      liveResponse: (Original) => (props) => {
        const { response, path, method } = props;
        const cursor = nextCursor(response.getIn(['headers', 'link']));
        const code = codeOf(response);
        return h(
          Fragment,
          null,
          h(Original, props),
          explained.includes(code) && h(Advice, { code }),
          cursor && h(NextPage, { path, method, cursor }),
        );
      },
    },
  };
}
