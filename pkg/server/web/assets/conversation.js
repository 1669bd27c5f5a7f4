// The conversation: questions are asked one after another, the server keeps the
// history under a session, and this tab keeps the session.

import * as api from './api.js';
import { byId, storage } from './dom.js';
import { phrase } from './i18n.js';
import { finishedLength, spoken } from './markers.js';
import { Turn } from './turn.js';

const kept = storage('sessionStorage');
const question = byId('question');
const turns = byId('turns');

let session = kept.get('kb.session');
let running = null; // AbortController of the answer that is being written
let openPassage;
let changed;

// start wires the form. open shows a passage; onChange is called when the first
// turn comes or the last one goes.
export function start({ open, onChange }) {
  openPassage = open;
  changed = onChange;
  byId('composer').addEventListener('submit', (e) => { e.preventDefault(); submit(); });
  question.addEventListener('keydown', (e) => {
    // Enter that chooses a word of an input method sends nothing.
    if (e.key !== 'Enter' || e.shiftKey || e.isComposing || e.keyCode === 229) return;
    e.preventDefault();
    submit();
  });
  byId('stop').addEventListener('click', stop);
  byId('new-conversation').addEventListener('click', restart);
}

export const isEmpty = () => turns.childElementCount === 0;

export function stop() {
  running?.abort();
}

export const isRunning = () => running !== null;

function submit() {
  const text = question.value.trim();
  if (text === '' || running) return;
  question.value = '';
  ask(text);
}

function addTurn(text) {
  const turn = new Turn(text, {
    open: openPassage,
    retry: () => {
      if (running) return;
      turn.node.remove();
      ask(text);
    },
  });
  turns.append(turn.node);
  changed();
  return turn;
}

async function ask(text) {
  const turn = addTurn(text);
  const control = new AbortController();
  setRunning(control);
  turn.node.scrollIntoView({ block: 'start', behavior: 'instant' });
  const reader = new Reader();
  try {
    for await (const { event, data } of api.chat(text, session, control.signal)) {
      if (control !== running) return; // a new conversation began
      show(turn, event, data, reader);
    }
  } catch (err) {
    if (control !== running) return;
    if (err.name === 'AbortError') turn.stopped();
    else turn.failed(err instanceof api.ApiError ? err : new api.ApiError(0, 'internal', String(err)));
  }
  setRunning(null);
}

function show(turn, event, data, reader) {
  if (data.session) keepSession(data.session);
  switch (event) {
    case 'citations': return turn.found(data);
    case 'delta':
      turn.write(data.text);
      return reader.read(turn.text);
    case 'done':
      turn.done(data);
      return reader.finish(data);
  }
}

function keepSession(id) {
  session = id;
  kept.set('kb.session', id);
}

function setRunning(control) {
  const hadFocus = document.activeElement === byId(control ? 'send' : 'stop');
  running = control;
  byId('stop').hidden = !control;
  byId('send').hidden = Boolean(control);
  turns.setAttribute('aria-busy', String(Boolean(control)));
  if (hadFocus) question.focus();
}

// Reader has finished sentences of an answer read aloud, and its end told. The
// answer itself is no live region, as it is drawn anew while it grows.
class Reader {
  #read = 0;
  #node = byId('announce');

  constructor() { this.#node.replaceChildren(); }

  read(text) {
    const finished = finishedLength(text);
    if (finished <= this.#read) return;
    this.#say(spoken(text.slice(this.#read, finished)));
    this.#read = finished;
  }

  finish(record) {
    this.#say(spoken(record.text.slice(this.#read)));
    const sources = (record.citations ?? []).length;
    const failed = (record.claims ?? []).filter((c) => !c.supported).length;
    this.#say(phrase('answerReady', {
      sources: sources ? { key: 'sourceCount', args: { n: sources } } : '',
      failed: failed ? { key: 'failedCount', args: { n: failed, of: record.claims.length } } : '',
    }));
  }

  #say(text) {
    if (text === '') return;
    const line = document.createElement('p');
    line.textContent = text;
    this.#node.append(line);
  }
}

// restart begins a new conversation; the old one is forgotten by the server too.
function restart() {
  const old = session;
  stop();
  setRunning(null);
  keepSession(null);
  turns.replaceChildren();
  changed();
  question.focus();
  if (old) api.forget(old).catch(() => {}); // one that is gone already is forgotten
}

// restore shows the conversation of this tab again after a reload.
export async function restore() {
  if (!session) return;
  let history;
  try {
    history = await api.historyOf(session);
  } catch (err) {
    if (err.status === 404) keepSession(null);
    return;
  }
  for (const turn of history.turns ?? []) {
    addTurn(turn.question).done({ text: turn.answer, rewritten: turn.standalone, refused: turn.refused, citations: turn.citations, claims: turn.claims, complete: true });
  }
  turns.lastElementChild?.scrollIntoView({ block: 'start', behavior: 'instant' });
}
