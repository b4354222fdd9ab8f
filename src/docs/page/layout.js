/**
 * Plugin of Swagger UI: folds what operations have in common, and shows when a deprecated operation
 * is removed.
 */
export function Layout(system) {
  const { createElement: h, Fragment, useState } = system.React;

  function FoldedResponse({ Original, ...props }) {
    const [open, setOpen] = useState(false);
    const toggle = { type: 'button', 'aria-expanded': open, onClick: () => setOpen(!open) };
    // The first sentence; the whole description follows when the response is unfolded.
    const [title] = props.response
      .get('description', '')
      .replaceAll('`', '')
      .split(/(?<=\.)\s/);
    return h(
      Fragment,
      null,
      h(
        'tr',
        { className: 'response folded', 'data-code': props.code },
        h('td', { className: 'response-col_status' }, props.code),
        h('td', { className: 'response-col_description', colSpan: 2 }, h('button', toggle, title)),
      ),
      open && h(Original, { ...props, className: 'unfolded' }),
    );
  }

  function Sunset({ operationProps }) {
    // From the unresolved document: Swagger UI resolves an operation only when it is opened.
    const where = ['paths', operationProps.get('path'), operationProps.get('method')];
    const operation = system.getSystem().specSelectors.specJson().getIn(where);
    const sunset = operation?.get('x-sunset');
    if (!sunset) return null;
    return h(
      'p',
      { className: 'sunset' },
      h('strong', null, 'Deprecated'),
      ', to be removed on ',
      h('time', null, sunset),
      `. Use ${operation.get('x-replaced-by')}.`,
    );
  }

  // The code of a documented response is text, that of a received one a number.
  const isError = ({ code }) => Number(code) >= 400 || code === 'default';
  return {
    wrapComponents: {
      // Assistive technology ignores a link within a button.
      DeepLink: () => (props) => h('span', { className: 'nostyle' }, props.text ?? props.path),
      response: (Original) => (props) =>
        isError(props) ? h(FoldedResponse, { ...props, Original }) : h(Original, props),
      headers: (Original) => (props) =>
        props.headers?.size
          ? h(
              'details',
              { className: 'folded-headers' },
              h('summary', null, `${props.headers.size} response headers`),
              h(Original, props),
            )
          : null,
      OperationSummary: (Original) => (props) =>
        h(Fragment, null, h(Original, props), h(Sunset, { operationProps: props.operationProps })),
    },
  };
}
