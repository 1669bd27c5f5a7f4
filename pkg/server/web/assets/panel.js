// The panel with a passage in its document, or with a whole document.

import * as api from './api.js';
import { byId, el, languageOf } from './dom.js';
import { say } from './i18n.js';
import { headingPath, nameOf, place } from './sources.js';

const panel = byId('panel');
const title = byId('panel-title');
const where = byId('panel-where');
const body = byId('panel-body');
const narrow = matchMedia('(max-width: 60rem)');

// around is how many characters before and behind a passage are asked for at
// first: some pages, so that a book opens as quickly as a note.
const around = 8000;

let opener = null;
let turn = 0; // of the newest request: an older answer is dropped

export function start() {
  byId('panel-close').addEventListener('click', close);
  narrow.addEventListener('change', cover);
}

export const isOpen = () => !panel.hidden;

// cover keeps what lies behind the panel out of reach where it fills the screen.
function cover() {
  for (const id of ['bar', 'shell']) byId(id).inert = isOpen() && narrow.matches;
}

export function close() {
  if (!isOpen()) return;
  panel.hidden = true;
  turn++;
  cover();
  document.body.classList.remove('reading');
  (opener?.isConnected ? opener : byId('question')).focus();
}

// openPassage shows a passage of an answer in its document.
export async function openPassage(p, button) {
  show(p, button);
  await fill((context) => api.passage(p.id, context), p);
}

async function fill(load, p, context = around) {
  const mine = ++turn;
  try {
    const found = await load(context);
    if (mine !== turn) return;
    heading(found);
    drawPassage(found, context, () => fill(load, p, 'all'));
  } catch (err) {
    if (mine === turn) fail(err, () => fill(load, p, context), p.text);
  }
}

// openDocument shows a whole document of the list.
export async function openDocument(d, button) {
  show(d, button);
  const mine = ++turn;
  try {
    const found = await api.documentOf(d.id);
    if (mine !== turn) return;
    body.replaceChildren(el('div', { className: 'document', lang: languageOf(found.text) }, ...linesOf(found.text)));
    body.scrollTop = 0;
  } catch (err) {
    if (mine === turn) fail(err, () => openDocument(d, button));
  }
}

function show(p, button) {
  opener = button;
  heading(p);
  body.replaceChildren(el('p', { className: 'wait' }, say('opening')));
  panel.hidden = false;
  document.body.classList.add('reading');
  cover();
  title.focus();
}

function heading(p) {
  title.textContent = nameOf(p);
  title.lang = languageOf(nameOf(p));
  const headings = headingPath(p);
  where.replaceChildren(...[
    headings.length ? el('span', { className: 'headings', lang: languageOf(headings.join('')) }, headings.join(' › ')) : null,
    el('span', { className: 'path' }, p.path),
    place(p),
    p.of > 1 ? say('passageOf', { n: p.seq, of: p.of }) : null,
  ].filter(Boolean));
}

function drawPassage(p, context, more) {
  const text = textOf(p.before, p.text, p.after);
  const cut = context !== 'all' && (longerThan(p.before, context) || longerThan(p.after, context));
  body.replaceChildren(...(cut ? [el('button', { type: 'button', className: 'quiet show-all', onclick: more }, say('showAll'))] : []), text);
  text.querySelector('mark')?.scrollIntoView({ block: 'center', behavior: 'instant' });
}

const longerThan = (text, n) => text.length >= n && [...text].length >= n;

function fail(err, again, text) {
  const { key, args } = err.status === 404 ? { key: 'gone' } : err.words?.() ?? { key: 'errOther', args: { message: String(err) } };
  body.replaceChildren(el('p', { className: 'warning', role: 'alert' }, say(key, args)));
  if (err.status !== 404) body.append(el('button', { type: 'button', className: 'quiet retry', onclick: again }, say('retry')));
  if (text) body.append(textOf('', text, ''));
}

// textOf is the text of a document as it is written, with the passage marked in
// it. Headings of Markdown stand out; nothing is left out.
function textOf(before, text, after) {
  return el('div', { className: 'document', lang: languageOf(text) },
    ...linesOf(before), el('mark', { className: 'passage' }, ...linesOf(text)), ...linesOf(after));
}

// linesOf keeps each line end, so that what a person copies is what is written.
function linesOf(text) {
  return (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).map((line) =>
    /^ {0,3}#{1,6}\s+\S/.test(line) ? el('span', { className: 'line-heading' }, line) : document.createTextNode(line));
}
