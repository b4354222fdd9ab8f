import { copy } from './copy.js';

/** Gives each block of code a button that copies it. */
for (const block of document.querySelectorAll('.guide pre')) {
  const box = document.createElement('div');
  const button = document.createElement('button');
  const say = (text) => (button.textContent = text);
  box.className = 'block';
  button.className = 'copy';
  button.setAttribute('aria-live', 'polite');
  say('Copy');
  button.addEventListener('click', async () => {
    say(await copy(block.innerText));
    setTimeout(say, 2_000, 'Copy');
  });
  block.replaceWith(box);
  box.append(block, button);
}
