import { indentJson } from './json-text.js';

const GUIDE = '/docs/guides/clients';
/** The codes that the guide has an entry of: of those of extensions it has none. */
const explained = document.querySelector('#swagger-ui').dataset.explained.split(' ');

/** The cursor of the next page, as `Link` tells it. */
function nextCursor(link = '') {
  const target = /<([^>]*)>;[^,]*\brel="?next"?/.exec(link)?.[1];
  return target === undefined
    ? undefined
    : (new URL(target).searchParams.get('cursor') ?? undefined);
}

function codeOf(response) {
  if (!(response.get('status') >= 400)) return undefined;
  try {
    return JSON.parse(response.get('text')).code;
  } catch {
    return undefined;
  }
}

/** Plugin of Swagger UI: answers as they were sent, the next page, and what to do about an error. */
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

  const Body = ({ content, url, getComponent }) =>
    h(
      'div',
      null,
      h('h5', null, 'Response body'),
      h(
        getComponent('HighlightCode', true),
        {
          language: 'json',
          downloadable: true,
          fileName: `${new URL(url, location.href).pathname.split('/').at(-1)}.json`,
          canCopy: true,
        },
        indentJson(content),
      ),
    );

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
          explained.includes(code) &&
            h(
              'p',
              { className: 'what-to-do' },
              h('a', { href: `${GUIDE}#${code}` }, `What to do about ${code}`),
            ),
          cursor && h(NextPage, { path, method, cursor }),
        );
      },
    },
  };
}
