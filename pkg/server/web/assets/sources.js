// The numbered passages beside an answer.

import { el, languageOf } from './dom.js';
import { bind, say } from './i18n.js';

// headingPath is the path of headings without one that repeats the title.
export function headingPath(p) {
  const headings = (p.headings ?? []).filter(Boolean);
  return headings[0] === p.title ? headings.slice(1) : headings;
}

// nameOf is what a person calls a passage's document.
export const nameOf = (p) => p.title || p.path.split('/').at(-1);

// place says where a passage stands in its file: its page or line.
export function place(p) {
  if (p.page > 0) return say('page', { n: p.page });
  if (p.line > 0) return say('line', { n: p.line });
  return null;
}

// scored says whether the scores of an answer mean something to a person: those
// of a rank fusion, 1/(60 + rank), do not.
export function scored(legs) {
  const ran = new Set((legs ?? []).filter((l) => l.ran).map((l) => l.leg));
  return ran.has('rerank') || !(ran.has('vector') && ran.has('bm25'));
}

// SourceList draws passages into root; open is called with a passage and the
// button that was pressed.
export class SourceList {
  #root;
  #open;
  #cards = new Map(); // n → the list item

  constructor(root, open) {
    this.#root = root;
    this.#open = open;
  }

  draw(passages, { scores = true, numbered = true } = {}) {
    this.#cards.clear();
    this.#root.replaceChildren(...passages.map((p) => {
      const card = this.#card(p, scores, numbered);
      this.#cards.set(p.n, card);
      return card;
    }));
  }

  // cite dims the sources that an answer did not use.
  cite(used) {
    for (const [n, card] of this.#cards) {
      const unused = !used.has(n);
      card.classList.toggle('unused', unused);
      card.querySelector('.not-cited')?.remove();
      if (unused) card.querySelector('.place').append(say('unused'));
      if (unused) card.querySelector('.place').lastChild.classList.add('not-cited');
    }
  }

  // point marks the source that a citation under the pointer names.
  point(n) {
    for (const [number, card] of this.#cards) card.classList.toggle('pointed', number === n);
  }

  #card(p, scores, numbered) {
    const headings = headingPath(p);
    const button = el('button', { type: 'button', className: 'source-open', onclick: () => this.#open(p, button) }, nameOf(p));
    return el('li', { className: numbered ? 'source numbered' : 'source' },
      numbered ? el('span', { className: 'number', 'aria-hidden': 'true' }, String(p.n)) : null,
      el('p', { className: 'source-title' }, numbered ? el('span', { className: 'hidden' }, say('source'), ` ${p.n}: `) : null, button),
      headings.length ? el('p', { className: 'headings', lang: languageOf(headings.join('')) }, headings.join(' › ')) : null,
      p.text ? el('p', { className: 'snippet', lang: languageOf(p.text) }, snippet(p.text)) : null,
      el('p', { className: 'place' }, el('span', { className: 'path' }, p.path), place(p), scores && p.score ? bind(el('span', { className: 'score' }), 'score', { n: p.score.toFixed(2) }) : null));
  }
}

// snippet is the text of a passage in a few lines, without the headings that
// stand above it and the signs of Markdown.
const snippet = (text) => text.replace(/^(?:\s*#{1,6}\s.*\n)+/, '').replace(/^\s*(?:#{1,6}|>|[-*+])\s+|^[-|: ]+$/gm, '').replace(/[*`]+/g, '').replaceAll('|', ' ').replace(/\s+/g, ' ').trim().slice(0, 400);
