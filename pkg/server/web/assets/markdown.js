// The part of Markdown that answers use, read into blocks and pieces that know
// their place in the text, so that claims can be marked there. Nothing is ever
// parsed as HTML; what is not understood stays as it is written.
//
// A block is {type, start, end, …}: p, h, quote and item (depth,
// ordered, number) have pieces; code has pieces of one literal; table has rows
// of cells of pieces; rule has none. A piece is {start, end, kind, …}: text, code,
// cite (n), link (href), break; bold is a flag of any.

import { splitMarkers } from './markers.js';

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/;
const HEADING = /^ {0,3}(#{1,6})\s+(?=\S)/;
const ITEM = /^(\s*)(?:[-*+•]|(\d{1,9})[.)、])\s+(?=\S)/;
const QUOTE = /^ {0,3}>\s?/;
const RULE = /^ {0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/;
const DELIMITER = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

// parse reads an answer; known is the set of numbers that a citation may have.
export function parse(text, known) {
  const lines = splitLines(text);
  const blocks = [];
  for (let i = 0; i < lines.length;) i = readBlock(text, lines, i, known, blocks);
  return blocks;
}

function splitLines(text) {
  const lines = [];
  for (let start = 0; start <= text.length;) {
    let end = text.indexOf('\n', start);
    if (end < 0) end = text.length;
    const cut = end > start && text[end - 1] === '\r' ? end - 1 : end;
    lines.push({ start, end: cut, text: text.slice(start, cut) });
    start = end + 1;
  }
  return lines;
}

// readBlock reads the block that begins at line i and returns the line behind it.
function readBlock(text, lines, i, known, blocks) {
  const line = lines[i];
  if (line.text.trim() === '') return i + 1;
  if (FENCE.test(line.text)) return readFence(lines, i, blocks);
  if (RULE.test(line.text)) {
    blocks.push({ type: 'rule', start: line.start, end: line.end });
    return i + 1;
  }
  if (beginsTable(lines, i)) return readTable(text, lines, i, known, blocks);
  return readProse(text, lines, i, known, blocks);
}

function readFence(lines, i, blocks) {
  const [, fence, language] = FENCE.exec(lines[i].text);
  let end = i + 1;
  while (end < lines.length && !isClosing(lines[end].text, fence)) end++;
  const last = Math.min(end, lines.length) - 1;
  const close = Math.min(end, lines.length - 1);
  const body = last > i ? [{ kind: 'literal', start: lines[i + 1].start, end: lines[last].end }] : [];
  blocks.push({ type: 'code', language, start: lines[i].start, end: lines[close].end, pieces: body });
  return end + 1;
}

const isClosing = (line, fence) => {
  const t = line.trim();
  return t.length >= fence.length && t.split('').every((c) => c === fence[0]);
};

const beginsTable = (lines, i) =>
  lines[i].text.includes('|') && i + 1 < lines.length && lines[i + 1].text.includes('|') && DELIMITER.test(lines[i + 1].text);

function readTable(text, lines, i, known, blocks) {
  const block = { type: 'table', start: lines[i].start, rows: [] };
  let at = i;
  for (; at < lines.length && lines[at].text.includes('|'); at++) {
    if (at !== i + 1) block.rows.push(cells(text, lines[at], known));
    block.end = lines[at].end;
  }
  blocks.push(block);
  return at;
}

// cells cuts a row at its | that are not escaped.
function cells(text, line, known) {
  const bars = [...line.text.matchAll(/(?<!\\)\|/g)].map((m) => line.start + m.index);
  if (!line.text.trimStart().startsWith('|')) bars.unshift(line.start - 1);
  if (!/(?<!\\)\|\s*$/.test(line.text)) bars.push(line.end);
  return bars.slice(1).map((bar, i) => inline(text, bars[i] + 1, bar, known));
}

// readProse reads a heading, an item of a list, a quote or a paragraph; the
// lines that follow an item or a paragraph belong to it.
function readProse(text, lines, i, known, blocks) {
  const { block, skip } = opening(lines[i].text);
  block.start = lines[i].start;
  block.pieces = inline(text, lines[i].start + skip, lines[i].end, known);
  let at = i + 1;
  for (; block.type !== 'h' && at < lines.length && continues(lines, at, block.type); at++) {
    const cut = block.type === 'quote' ? (QUOTE.exec(lines[at].text)?.[0].length ?? 0) : 0;
    block.pieces.push({ kind: 'break', start: lines[at - 1].end, end: lines[at].start + cut });
    block.pieces.push(...inline(text, lines[at].start + cut, lines[at].end, known));
  }
  block.end = lines[at - 1].end;
  blocks.push(block);
  return at;
}

function opening(line) {
  const heading = HEADING.exec(line);
  if (heading) return { block: { type: 'h' }, skip: heading[0].length };
  const item = ITEM.exec(line);
  if (item) {
    const depth = Math.min(Math.floor(item[1].replace(/\t/g, '    ').length / 2), 4);
    return { block: { type: 'item', depth, ordered: item[2] !== undefined, number: Number(item[2] ?? 0) }, skip: item[0].length };
  }
  const quote = QUOTE.exec(line);
  if (quote) return { block: { type: 'quote' }, skip: quote[0].length };
  return { block: { type: 'p' }, skip: 0 };
}

function continues(lines, at, type) {
  const line = lines[at].text;
  if (type === 'quote') return QUOTE.test(line);
  return line.trim() !== '' && !FENCE.test(line) && !RULE.test(line) && !beginsTable(lines, at) && opening(line).block.type === 'p';
}

// Code, bold, links and bare addresses; an image is its description.
const INLINE = /(`+)([\s\S]*?[^`])\1(?!`)|\*\*(?=\S)([\s\S]*?\S)\*\*|(!?)\[([^\[\]]+)\]\(\s*<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+"[^"]*")?\s*\)|https?:\/\/[^\s<>"'`，。；：！？、）】」』]+[^\s<>"'`，。；：！？、）】」』.,;:!?)\]*]/g;

function inline(text, start, end, known, bold = false) {
  const pieces = [];
  const slice = text.slice(start, end);
  let last = 0;
  for (const m of slice.matchAll(INLINE)) {
    plain(text, start + last, start + m.index, known, bold, pieces);
    last = m.index + m[0].length;
    special(text, start + m.index, m, known, bold, pieces);
  }
  plain(text, start + last, end, known, bold, pieces);
  return pieces;
}

function special(text, at, m, known, bold, pieces) {
  const [whole, ticks, code, strong, image, label, href] = m;
  if (code !== undefined) {
    pieces.push({ kind: 'code', start: at + ticks.length, end: at + ticks.length + code.length, bold });
  } else if (strong !== undefined) {
    pieces.push(...inline(text, at + 2, at + 2 + strong.length, known, true));
  } else if (label !== undefined) {
    const from = at + image.length + 1;
    const safe = !image && /^https?:\/\//i.test(href);
    pieces.push({ kind: safe ? 'link' : 'text', href, start: from, end: from + label.length, bold });
  } else {
    pieces.push({ kind: 'link', href: whole, start: at, end: at + whole.length, bold });
  }
}

function plain(text, start, end, known, bold, pieces) {
  for (const part of splitMarkers(text.slice(start, end), known)) {
    const kind = part.n === undefined ? 'text' : 'cite';
    pieces.push({ kind, n: part.n, start: start + part.start, end: start + part.end, bold });
  }
}
