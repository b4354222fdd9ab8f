// Runs before anything is drawn: Swagger UI knows the dark by a class, not by the reader's system.
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
follow();
dark.addEventListener('change', follow);
