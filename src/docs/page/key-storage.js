const ITEM = 'petstore.api-key';
const ON_DEVICE = `${ITEM}.on-device`;
const tab = storageOf('sessionStorage');
const device = storageOf('localStorage');

/**
 * A storage of the browser, or one in memory if the browser forbids it: then even reading the
 * property may throw.
 */
export function storageOf(name) {
  try {
    const storage = globalThis[name];
    if (storage) return storage;
  } catch {
    // forbidden
  }
  const items = new Map();
  return {
    isInMemory: true,
    getItem: (item) => items.get(item) ?? null,
    setItem: (item, value) => items.set(item, value),
    removeItem: (item) => items.delete(item),
  };
}

/** The key of this tab, or the key that the reader stored on this device. */
export const storedKey = () => tab.getItem(ITEM) ?? device.getItem(ITEM) ?? undefined;

/**
 * A pasted key often comes with its scheme or the name of its header, in quotes, or with characters
 * that nobody sees.
 */
export const bareKey = (text) =>
  text
    .replace(/\p{Cf}/gu, '')
    .replace(/^[\s"'“]*(?:authorization:\s*)?(?:bearer\s+)?|[\s"'”]+$/gi, '');

const isOnDevice = () => device.getItem(ON_DEVICE) === 'yes';

function store(key) {
  forget();
  // A token of the admin API stays in this tab.
  const mayStay = isOnDevice() && !key.startsWith('psa_');
  (mayStay ? device : tab).setItem(ITEM, key);
}

function forget() {
  tab.removeItem(ITEM);
  device.removeItem(ITEM);
}

function keepOnDevice(onDevice) {
  const key = storedKey();
  if (onDevice) device.setItem(ON_DEVICE, 'yes');
  else device.removeItem(ON_DEVICE);
  if (key !== undefined) store(key);
}

/** Plugin of Swagger UI: stores the key for this tab only, unless the reader chooses otherwise. */
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
      h('small', null, 'Otherwise it is removed when this tab is closed.'),
    );
  }
  const authorize = (original) => (payload) => {
    const bare = Object.entries(payload).map(([name, given]) => [
      name,
      { ...given, value: given.value && bareKey(given.value) },
    ]);
    for (const [, { value }] of bare) {
      if (value) store(value);
    }
    return original(Object.fromEntries(bare));
  };
  const logout = (original) => (names) => {
    forget();
    return original(names);
  };
  return {
    statePlugins: { auth: { wrapActions: { authorize, logout } } },
    wrapComponents: {
      auths: (Original) => (props) =>
        h(Fragment, null, h(Original, props), !device.isInMemory && h(Switch)),
    },
  };
}
