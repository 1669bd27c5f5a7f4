// Draws the text of an answer: blocks that did not change while the answer
// grows keep their nodes, so that nothing jumps and a selection stays.

import { el, languageOf } from './dom.js';
import { parse } from './markdown.js';
import { say } from './i18n.js';

// AnswerView fills root. cite is called with the number of a citation and the
// button that was pressed; label gives the name of a source.
export class AnswerView {
  #root;
  #cite;
  #label;
  #drawn = []; // {key, node} of each group

  constructor(root, { cite, label }) {
    this.#root = root;
    this.#cite = cite;
    this.#label = label;
  }

  // draw shows text. known are the numbers that a citation may have; failed the
  // claims that do not hold, see failedClaims.
  draw(text, known, failed = []) {
    const blocks = parse(text, known);
    placeReasons(blocks, failed);
    const groups = group(blocks);
    const keys = groups.map((g) => keyOf(g, text, failed));
    let same = 0;
    while (same < keys.length && same < this.#drawn.length && this.#drawn[same].key === keys[same]) same++;
    for (const old of this.#drawn.splice(same)) old.node.remove();
    for (let i = same; i < groups.length; i++) {
      const node = this.#group(groups[i], text, failed);
      this.#root.append(node);
      this.#drawn.push({ key: keys[i], node });
    }
    this.#root.lang = languageOf(text);
  }

  #group(blocks, text, failed) {
    const first = blocks[0];
    switch (first.type) {
      case 'item': return this.#list(blocks, text, failed);
      case 'table': return this.#table(first, text, failed);
      case 'rule': return el('hr');
      case 'code': return el('div', { className: 'code' }, el('pre', { tabIndex: 0 }, el('code', {}, ...this.#pieces(first.pieces, text, failed))), ...reasons(first.pieces, failed));
      case 'quote': return el('blockquote', {}, ...this.#pieces(first.pieces, text, failed));
      case 'h': return el('p', { className: 'heading', role: 'heading', 'aria-level': '3' }, ...this.#pieces(first.pieces, text, failed));
      default: return el('p', {}, ...this.#pieces(first.pieces, text, failed));
    }
  }

  // #list draws items that follow one another, nested by their depth.
  #list(items, text, failed) {
    const root = listOf(items[0]);
    const open = [{ depth: items[0].depth, list: root }];
    for (const item of items) {
      while (open.length > 1 && item.depth < open.at(-1).depth) open.pop();
      if (item.depth > open.at(-1).depth && open.at(-1).list.lastChild) {
        const inner = listOf(item);
        open.at(-1).list.lastChild.append(inner);
        open.push({ depth: item.depth, list: inner });
      }
      open.at(-1).list.append(el('li', {}, ...this.#pieces(item.pieces, text, failed)));
    }
    return root;
  }

  #table(block, text, failed) {
    const rows = block.rows.map((row, i) => el('tr', {}, ...row.map((cell) =>
      i === 0 ? el('th', { scope: 'col' }, ...this.#pieces(cell, text, failed)) : el('td', {}, ...this.#pieces(cell, text, failed)))));
    return el('div', { className: 'table', tabIndex: 0 }, el('table', {}, el('thead', {}, rows[0]), el('tbody', {}, ...rows.slice(1))));
  }

  #pieces(pieces, text, failed) {
    const nodes = [];
    for (const piece of pieces) {
      for (const { start, end, claim } of cutAtClaims(piece, failed)) {
        const node = this.#piece({ ...piece, start, end }, text);
        if (!claim) {
          nodes.push(node);
          continue;
        }
        if (claim.first === piece) nodes.push(el('span', { className: 'hidden' }, say('claimBegins'), ' '));
        nodes.push(el('span', { className: claim.uncited ? 'unsupported uncited' : 'unsupported' }, node));
        if (claim.last === piece && piece.kind !== 'literal') nodes.push(reason(claim));
      }
    }
    return nodes;
  }

  #piece(piece, text) {
    const body = text.slice(piece.start, piece.end);
    let node;
    switch (piece.kind) {
      case 'cite': return this.#citation(piece.n);
      case 'break': return document.createTextNode(betweenHan(text, piece) ? '' : '\n');
      case 'code': node = el('code', {}, body.replace(/^ (.*[^ ].*) $/, '$1')); break;
      case 'link': node = el('a', { href: piece.href, rel: 'noopener noreferrer', target: '_blank' }, body); break;
      case 'literal': return document.createTextNode(body);
      default: node = document.createTextNode(unescape(body));
    }
    return piece.bold ? el('strong', {}, node) : node;
  }

  #citation(n) {
    const button = el('button', { type: 'button', className: 'cite', onclick: () => this.#cite(n, button) },
      el('span', { className: 'hidden' }, say('source'), ' '), String(n));
    button.dataset.n = n;
    const label = this.#label(n);
    if (label) button.title = label;
    return button;
  }
}

const unescape = (s) => s.replace(/\\([\\`*_{}\[\]()#+\-.!|>~])/g, '$1');

const listOf = (item) => item.ordered ? el('ol', { start: item.number }) : el('ul');

// betweenHan says whether a line end stands between two Chinese characters,
// where it is no space.
const HAN = /[\p{Script=Han}\u3000-\u303f\uff00-\uffef]/u;
const betweenHan = (text, piece) => HAN.test(text[piece.start - 1] ?? '') && HAN.test(text[piece.end] ?? '');

// group joins the items of one list.
function group(blocks) {
  const groups = [];
  for (const block of blocks) {
    const last = groups.at(-1);
    const joins = block.type === 'item' && last?.[0].type === 'item' && (block.depth > last[0].depth || block.ordered === last[0].ordered);
    if (joins) last.push(block);
    else groups.push([block]);
  }
  return groups;
}

const piecesOf = (block) => block.rows ? block.rows.flat(2) : block.pieces ?? [];

// placeReasons finds the first and the last piece of each claim: there the mark
// begins, and there its reason is written.
function placeReasons(blocks, failed) {
  for (const claim of failed) {
    const inside = blocks.flatMap(piecesOf).filter((p) => p.kind !== 'break' && p.start < claim.end && p.end > claim.start);
    claim.first = inside[0];
    claim.last = inside.at(-1);
  }
}

// cutAtClaims cuts a piece where claims begin and end.
function cutAtClaims(piece, failed) {
  const parts = [];
  let at = piece.start;
  for (const claim of failed) {
    const start = Math.max(claim.start, at);
    const end = Math.min(claim.end, piece.end);
    if (start >= end) continue;
    if (piece.kind === 'cite' || piece.kind === 'code' || piece.kind === 'link') return [{ start: piece.start, end: piece.end, claim }];
    if (start > at) parts.push({ start: at, end: start });
    parts.push({ start, end, claim });
    at = end;
  }
  if (at < piece.end) parts.push({ start: at, end: piece.end });
  return parts;
}

const reason = (claim) => el('span', { className: 'why', lang: languageOf(claim.why) },
  el('span', { 'aria-hidden': 'true' }, '✗ '), claim.why);

const reasons = (pieces, failed) => failed.filter((c) => c.last && pieces.includes(c.last)).map(reason);

// keyOf changes when a group must be drawn again.
function keyOf(blocks, text, failed) {
  const start = blocks[0].start;
  const end = blocks.at(-1).end;
  const cites = blocks.flatMap(piecesOf).filter((p) => p.kind === 'cite').map((p) => p.n);
  const marks = failed.filter((c) => c.start < end && c.end > start).map((c) => [c.start, c.end, c.why]);
  return JSON.stringify([blocks[0].type, text.slice(start, end), cites, marks]);
}
