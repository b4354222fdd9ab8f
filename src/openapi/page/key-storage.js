const ITEM = 'petstore.api-key';
const tab = storageOf('sessionStorage');
const device = storageOf('localStorage');

/** A storage of the browser; undefined where the reader has forbidden it, which asking for it may throw. */
function browserStorage(name) {
  try {
    return globalThis[name] ?? undefined;
  } catch {
    return undefined;
  }
}

/** One of this page alone where the browser has none. */
function storageOf(name) {
  const items = new Map();
  return (
    browserStorage(name) ?? {
      getItem: (item) => items.get(item) ?? null,
      setItem: (item, value) => items.set(item, value),
      removeItem: (item) => items.delete(item),
    }
  );
}

/** Where the key is kept: until the tab is closed, or on this device where the reader says so. */
export function storedKey() {
  return tab.getItem(ITEM) ?? device.getItem(ITEM) ?? undefined;
}

export const isOnDevice = () => device.getItem(`${ITEM}.on-device`) === 'yes';

function store(key) {
  forget();
  (isOnDevice() ? device : tab).setItem(ITEM, key);
}

function forget() {
  tab.removeItem(ITEM);
  device.removeItem(ITEM);
}

export function keepOnDevice(onDevice) {
  const key = storedKey();
  if (onDevice) device.setItem(`${ITEM}.on-device`, 'yes');
  else device.removeItem(`${ITEM}.on-device`);
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
      auths: (Original) => (props) =>
        h(Fragment, null, h(Original, props), browserStorage('localStorage') && h(Switch)),
    },
  };
}
