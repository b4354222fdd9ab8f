const ITEM = 'petstore.api-key';

/** Where the key is kept: until the tab is closed, or on this device where the reader says so. */
export function storedKey() {
  return sessionStorage.getItem(ITEM) ?? localStorage.getItem(ITEM) ?? undefined;
}

export const isOnDevice = () => localStorage.getItem(`${ITEM}.on-device`) === 'yes';

function store(key) {
  forget();
  (isOnDevice() ? localStorage : sessionStorage).setItem(ITEM, key);
}

function forget() {
  sessionStorage.removeItem(ITEM);
  localStorage.removeItem(ITEM);
}

export function keepOnDevice(onDevice) {
  const key = storedKey();
  if (onDevice) localStorage.setItem(`${ITEM}.on-device`, 'yes');
  else localStorage.removeItem(`${ITEM}.on-device`);
  if (key !== undefined) store(key);
}

/** Plugin of Swagger UI: keeps the key instead of its `persistAuthorization`, which is for ever. */
export function KeyStorage({ React: { createElement: h, Fragment, useState } }) {
  function Switch() {
    const [onDevice, setOnDevice] = useState(isOnDevice());
    const change = ({ target }) => {
      keepOnDevice(target.checked);
      setOnDevice(target.checked);
    };
    return h(
      'label',
      { className: 'remember' },
      h('input', { type: 'checkbox', checked: onDevice, onChange: change }),
      h('span', null, 'Remember the key on this device'),
      h('small', null, 'Otherwise it is forgotten when this tab is closed.'),
    );
  }
  return {
    statePlugins: {
      auth: {
        wrapActions: {
          authorize: (original) => (payload) => {
            for (const { value } of Object.values(payload)) if (value) store(value);
            return original(payload);
          },
          logout: (original) => (names) => {
            forget();
            return original(names);
          },
        },
      },
    },
    wrapComponents: {
      auths: (Original) => (props) => h(Fragment, null, h(Original, props), h(Switch)),
    },
  };
}
