// What stands where no question was asked yet: how to begin.

import { byId, el } from './dom.js';
import { bind, say } from './i18n.js';
import { nameOf } from './sources.js';

// some is how many documents are named.
const some = 6;

// draw shows it for the documents known; null: not read yet.
export function draw(documents, empty, { open, choose }) {
  const welcome = byId('welcome');
  welcome.hidden = !empty || documents === null;
  document.body.classList.toggle('blank', !welcome.hidden);
  byId('new-conversation').hidden = empty;
  if (welcome.hidden) return;
  const none = documents.length === 0;
  bind(byId('welcome-title'), none ? 'emptyTitle' : 'welcomeTitle');
  bind(byId('welcome-text'), none ? 'emptyText' : 'welcomeText');
  byId('welcome-more').replaceChildren(...(none ? [addButton(choose)] : titles(documents, open)));
}

const addButton = (choose) => el('button', { type: 'button', className: 'primary add-first', onclick: choose }, say('addFiles'));

function titles(documents, open) {
  const items = documents.slice(0, some).map((d) => {
    const button = el('button', { type: 'button', className: 'chip', onclick: () => open(d, button) }, nameOf(d));
    return el('li', {}, button);
  });
  return [el('div', { className: 'welcome-documents' }, el('h3', {}, say('welcomeDocuments')), el('ul', { className: 'chips' }, ...items))];
}
