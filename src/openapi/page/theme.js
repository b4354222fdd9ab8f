// Runs before the first paint. Swagger UI's dark mode is a class, not a media query.
const dark = matchMedia('(prefers-color-scheme: dark)');
const show = (isDark) => document.documentElement.classList.toggle('dark-mode', isDark);
const follow = () => show(dark.matches);
follow();
dark.addEventListener('change', follow);
globalThis.addEventListener('beforeprint', () => show(false));
globalThis.addEventListener('afterprint', follow);
