// The list of documents: filter, open, delete.

import * as api from './api.js';
import { byId, el, icon } from './dom.js';
import { bind, phrase, say } from './i18n.js';
import { nameOf } from './sources.js';

// shown is how many rows are drawn: more is for the filter to find.
const shown = 200;

const list = byId('documents-list');
const filter = byId('filter');
const message = byId('documents-message');

// drawer: the screen is too narrow for the list to stand beside the conversation.
const drawer = matchMedia('(max-width: 79.99rem)');

let all = null; // null until they were read once
let skipped = [];
let open;
let changed;

// start wires the list. onOpen shows a document; onChange is called with the
// documents when they were read.
export function start({ onOpen, onChange }) {
  open = onOpen;
  changed = onChange;
  filter.addEventListener('input', draw);
  byId('documents-toggle').addEventListener('click', () => toggle());
  byId('documents-close').addEventListener('click', () => toggle(false));
  drawer.addEventListener('change', () => show(false));
}

// toggle opens or closes the list where it is a drawer.
export function toggle(on = !isOpen()) {
  show(on);
  byId(on ? 'add' : 'documents-toggle').focus();
}

// show opens or closes the drawer; an open one keeps what it covers out of reach.
function show(on) {
  byId('documents').classList.toggle('open', on);
  byId('documents-toggle').setAttribute('aria-expanded', String(on));
  byId('main').inert = on;
}

export const isOpen = () => byId('documents').classList.contains('open');

// refresh reads the list and the state of the server again.
export async function refresh() {
  try {
    const found = await api.documents();
    all = found.documents ?? [];
    skipped = found.skipped ?? [];
    draw();
    changed(all);
    showStatus(await api.health());
  } catch (err) {
    const { key, args } = err.words?.() ?? { key: 'errOther', args: { message: String(err) } };
    message.replaceChildren(el('p', { className: 'warning', role: 'alert' }, say(key, args)),
      el('button', { type: 'button', className: 'quiet retry', onclick: refresh }, say('retry')));
  }
}

function showStatus(health) {
  const chat = health.models?.chat;
  byId('add').hidden = health.uploads === false;
  byId('status').replaceChildren(
    isOffline(chat) ? say('offline') : say('modelIs', { model: chat }),
    el('span', {}, `kb ${health.version}`));
}

const isOffline = (model) => !model || /^(kb-|offline)/.test(model);

function matches(d, words) {
  const text = `${d.title} ${d.path} ${(d.tags ?? []).join(' ')}`.toLowerCase();
  return words.every((w) => text.includes(w));
}

function draw() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = all.filter((d) => matches(d, words));
  byId('documents-count').textContent = all.length.toLocaleString();
  byId('filter-box').hidden = all.length < 5;
  list.replaceChildren(...found.slice(0, shown).map(row));
  message.replaceChildren(...note(found));
  drawSkipped();
}

function note(found) {
  if (all.length === 0) return [el('p', { className: 'nothing' }, say('emptyText'))];
  if (found.length === 0) return [el('p', { className: 'nothing' }, say('noMatch', { text: filter.value.trim() }))];
  if (found.length > shown) return [el('p', { className: 'nothing' }, say('more', { n: found.length - shown }))];
  return [];
}

function row(d) {
  const button = el('button', { type: 'button', className: 'row-open', onclick: () => choose(d, button) },
    el('span', { className: 'row-title' }, nameOf(d)), el('span', { className: 'path' }, d.path));
  return el('li', { className: 'row' }, button, d.removable === false ? null : deleteButton(d));
}

// choose opens a document. The drawer closes, or the two would cover the
// conversation; what had the focus is out of sight then.
function choose(d, button) {
  if (drawer.matches) show(false);
  open(d, drawer.matches ? byId('documents-toggle') : button);
}

function deleteButton(d) {
  const button = el('button', { type: 'button', className: 'quiet close row-delete', onclick: () => confirmDelete(d, button) }, icon('bin'));
  for (const attribute of ['aria-label', 'title']) bind(button, 'deleteDocument', { name: nameOf(d) }, attribute);
  return button;
}

function drawSkipped() {
  byId('skipped').hidden = skipped.length === 0;
  bind(byId('skipped-summary'), 'unread', { n: skipped.length });
  byId('skipped-list').replaceChildren(...skipped.slice(0, shown).map((s) =>
    el('li', {}, el('span', { className: 'path' }, s.path), el('span', { lang: 'en' }, s.reason))));
}

// confirmDelete asks first: nothing brings a deleted file back.
function confirmDelete(d, button) {
  const dialog = byId('confirm');
  bind(byId('confirm-title'), 'confirmTitle', { name: nameOf(d) });
  bind(byId('confirm-text'), 'confirmText', { path: d.path });
  dialog.returnValue = 'no';
  dialog.onclose = () => { if (dialog.returnValue === 'yes') remove(d, button); };
  dialog.showModal();
}

async function remove(d, button) {
  button.disabled = true;
  try {
    await api.deleteDocument(d.id);
  } catch (err) {
    if (err.status !== 404) { // one that is gone already is what was wanted
      button.disabled = false;
      const { key, args } = err.words();
      message.replaceChildren(el('p', { className: 'warning', role: 'alert' }, say(key, args)));
      return;
    }
  }
  byId('announce').textContent = phrase('deleted', { name: nameOf(d) });
  await refresh();
  byId(all.length >= 5 ? 'filter' : 'add').focus();
}
