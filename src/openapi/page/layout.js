/**
 * Plugin of Swagger UI: what all operations have in common is folded away, so that one fits a screen, and
 * a deprecated operation says until when it can be used.
 */
export function Layout(system) {
  const { createElement: h, Fragment, useState } = system.React;

  function FoldedResponse({ Original, ...props }) {
    const [open, setOpen] = useState(false);
    const description = props.response.get('description', '').replaceAll('`', '');
    return h(
      Fragment,
      null,
      h(
        'tr',
        { className: 'response folded', 'data-code': props.code },
        h('td', { className: 'response-col_status' }, props.code),
        h(
          'td',
          { className: 'response-col_description', colSpan: 2 },
          h(
            'button',
            { type: 'button', 'aria-expanded': open, onClick: () => setOpen(!open) },
            description,
          ),
        ),
      ),
      open && h(Original, { ...props, className: 'unfolded' }),
    );
  }

  function Sunset({ operationProps }) {
    // Of the document as it came: an operation is resolved only once it is opened.
    const where = ['paths', operationProps.get('path'), operationProps.get('method')];
    const operation = system.getSystem().specSelectors.specJson().getIn(where);
    const sunset = operation?.get('x-sunset');
    if (!sunset) return null;
    const day = new Date(sunset).toLocaleDateString('en-GB', {
      dateStyle: 'long',
      timeZone: 'UTC',
    });
    return h(
      'p',
      { className: 'sunset' },
      h('strong', null, 'Deprecated'),
      ', to be removed on ',
      h('time', { dateTime: sunset }, day),
      `. Use ${operation.get('x-replaced-by')}.`,
    );
  }

  return {
    wrapComponents: {
      // A link within the button that unfolds its operation is none for assistive technology.
      DeepLink:
        () =>
        ({ text, path }) =>
          h('span', { className: 'nostyle' }, text ?? path),
      response: (Original) => (props) =>
        // The status of an answer that is there is a number, and `default` is among what is documented.
        Number(props.code) >= 400 || props.code === 'default'
          ? h(FoldedResponse, { ...props, Original })
          : h(Original, props),
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
