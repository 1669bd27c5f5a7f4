// One question and its answer: the answer as it is written, the passages beside
// it, what is wrong with it, and what can be done about that.

import { AnswerView } from './answer.js';
import { el, languageOf } from './dom.js';
import { bind, say } from './i18n.js';
import { failedClaims } from './markers.js';
import { SourceList, headingPath, nameOf, scored } from './sources.js';

export class Turn {
  node;
  question;
  text = '';
  #passages = [];
  #answer;
  #view;
  #notes;
  #rewritten;
  #sources;
  #side;
  #sideTitle;
  #frame = 0;
  #actions;
  #wait;

  // open is called with a passage and the button that asked for it; retry with
  // nothing, when the question should be asked again.
  constructor(question, { open, retry }) {
    this.question = question;
    this.retry = retry;
    this.#rewritten = el('p', { className: 'rewritten', hidden: true });
    this.#wait = el('p', { className: 'wait' }, say('searching'));
    this.#answer = el('div', { className: 'answer' });
    this.#notes = el('div', { className: 'notes' });
    this.#actions = el('div', { className: 'actions' });
    this.#sideTitle = el('h3', {}, say('sources'));
    const list = el('ol', { className: 'sources' });
    this.#side = el('section', { className: 'side', hidden: true }, this.#sideTitle, list);
    bind(this.#side, 'sources', {}, 'aria-label');
    this.#sources = new SourceList(list, open);
    this.#view = new AnswerView(this.#answer, {
      cite: (n, button) => open(this.#passages.find((p) => p.n === n), button),
      label: (n) => {
        const p = this.#passages.find((p) => p.n === n);
        return p && [nameOf(p), ...headingPath(p)].join(' › ');
      },
    });
    for (const [type, on] of [['pointerover', true], ['pointerout', false], ['focusin', true], ['focusout', false]]) {
      this.#answer.addEventListener(type, (e) => this.#point(e, on));
    }
    const heading = el('h2', { className: 'question' }, el('span', { className: 'hidden' }, say('you'), ': '),
      el('span', { lang: languageOf(question) }, question));
    this.node = el('article', { className: 'turn' }, heading, this.#rewritten,
      el('div', { className: 'reply' }, el('div', { className: 'body' }, this.#wait, this.#answer, this.#notes, this.#actions), this.#side));
  }

  #point(e, on) {
    const n = e.target.closest?.('.cite')?.dataset.n;
    if (n) this.#sources.point(on ? Number(n) : 0);
  }

  #known() { return new Set(this.#passages.map((p) => p.n)); }

  // found shows what the answer can draw on, before its first word.
  found({ passages, rewritten, legs }) {
    this.#passages = passages ?? [];
    this.#showRewritten(rewritten);
    this.#showSources(legs);
    bind(this.#wait.firstChild, 'writing');
  }

  #showRewritten(text) {
    this.#rewritten.hidden = !text || text === this.question;
    if (this.#rewritten.hidden) return;
    this.#rewritten.replaceChildren(say('searchedFor', { text }));
    this.#rewritten.lang = languageOf(text);
  }

  #showSources(legs, options = {}) {
    this.#side.hidden = this.#passages.length === 0;
    this.#sources.draw(this.#passages, { scores: scored(legs), ...options });
  }

  // write adds a piece to the answer; it is drawn with the next frame.
  write(text) {
    this.text += text;
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#wait.hidden = true;
      this.#view.draw(this.text, this.#known());
    });
  }

  #settle() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#wait.hidden = true;
    this.node.classList.add('settled');
  }

  // done shows the whole answer, as its record says.
  done(record) {
    this.#settle();
    this.text = record.text;
    this.#passages = record.passages?.length ? record.passages : record.citations ?? [];
    this.#showRewritten(record.rewritten);
    if (record.refused) return this.#refused(record);
    const failed = failedClaims(record.text, record.claims);
    this.#view.draw(record.text, this.#known(), failed);
    this.#showSources(record.legs);
    this.#sources.cite(new Set((record.citations ?? []).map((c) => c.n)));
    this.#say(record, failed.length);
    this.#offer(!record.complete);
  }

  #say(record, failed) {
    const lines = [];
    if (!record.complete) lines.push(el('p', { className: 'warning' }, say('incomplete'), record.reason ? ` ${record.reason}` : ''));
    if (failed > 0) lines.push(el('p', { className: 'warning failed-note' }, say('failedNote', { n: failed, of: record.claims.length })));
    const invalid = record.invalid_citations ?? [];
    if (invalid.length) lines.push(el('p', {}, say('invalid', { n: invalid.length, list: invalid.map((n) => `[${n}]`).join(' ') })));
    if (record.cached) lines.push(el('p', {}, say('cached')));
    lines.push(...missingLegs(record.legs));
    this.#notes.replaceChildren(...lines);
  }

  // #refused helps: what was searched, why it was not enough, what came nearest.
  #refused(record) {
    this.node.classList.add('refused');
    this.#view.draw(record.text, new Set());
    const lines = [];
    if (record.chunks) {
      lines.push(el('p', { className: 'searched' }, say('searched', {
        chunks: { key: 'chunks', args: { n: record.chunks } },
        documents: { key: 'documentCount', args: { n: record.documents ?? 0 } },
      })));
    }
    if (this.#passages.length === 0 && record.chunks) {
      lines.push(el('p', {}, say('nothingNear')));
    } else if (record.confidence !== undefined && record.confidence < record.floor) {
      lines.push(el('p', {}, say('tooWeak', { confidence: record.confidence.toFixed(2), floor: record.floor.toFixed(2) })));
    } else if (record.reason) {
      lines.push(el('p', {}, say('whyRefused'), ': ', el('span', { lang: 'en' }, record.reason)));
    }
    lines.push(...missingLegs(record.legs));
    this.#notes.replaceChildren(...lines);
    bind(this.#sideTitle.firstChild, 'nearest');
    bind(this.#side, 'nearest', {}, 'aria-label');
    this.#showSources(record.legs, { numbered: false });
  }

  // stopped keeps what was written so far.
  stopped() { this.#end(el('p', { className: 'warning' }, say('stopped'))); }

  // failed keeps it too, and says what happened.
  failed(error) {
    const { key, args } = error.words();
    this.#end(el('p', { className: 'warning error', role: 'alert' }, say(key, args)));
  }

  #end(note) {
    this.#settle();
    this.#view.draw(this.text, this.#known());
    this.#notes.replaceChildren(note);
    this.#offer(true);
  }

  #offer(again) {
    const buttons = [];
    if (again) buttons.push(el('button', { type: 'button', className: 'quiet retry', onclick: () => this.retry() }, say('retry')));
    if (this.text) buttons.push(copyButton(() => this.text));
    this.#actions.replaceChildren(...buttons.filter(Boolean));
  }
}

function missingLegs(legs) {
  return (legs ?? []).filter((l) => !l.ran && l.why && l.leg !== 'rerank')
    .map((l) => el('p', {}, say('legMissing', { leg: l.leg, why: l.why })));
}

// copyButton needs a secure page (https or localhost), and is left out without.
function copyButton(text) {
  if (!navigator.clipboard) return null;
  const label = say('copy');
  const button = el('button', { type: 'button', className: 'quiet copy', onclick: async () => {
    await navigator.clipboard.writeText(text());
    bind(label, 'copied');
    setTimeout(() => bind(label, 'copy'), 2000);
  } }, label);
  return button;
}
