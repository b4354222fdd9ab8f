// Runs before anything is drawn: Swagger UI knows the dark by a class, not by the reader's system.
const dark = matchMedia('(prefers-color-scheme: dark)');
const show = (isDark) => document.documentElement.classList.toggle('dark-mode', isDark);
const follow = () => show(dark.matches);
follow();
dark.addEventListener('change', follow);
// Paper is light.
globalThis.addEventListener('beforeprint', () => show(false));
globalThis.addEventListener('afterprint', follow);
