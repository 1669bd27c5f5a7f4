// Citations and claims in the text of an answer.

// splitMarkers cuts text at its citations: [{start, end, n}] with n for a marker
// [n] whose number is known, and without n for what stands between.
export function splitMarkers(text, known) {
  const parts = [];
  let last = 0;
  for (const m of text.matchAll(/\[(\d{1,3})\]/g)) {
    const n = Number(m[1]);
    if (!known.has(n)) continue;
    if (m.index > last) parts.push({ start: last, end: m.index });
    last = m.index + m[0].length;
    parts.push({ start: m.index, end: last, n });
  }
  if (last < text.length) parts.push({ start: last, end: text.length });
  return parts;
}

// failedClaims finds the claims that their sources do not bear out: their place
// in the text, in order. Claims stand in the record in the order of the text,
// each as it stands there.
export function failedClaims(text, claims) {
  const failed = [];
  let from = 0;
  for (const claim of claims ?? []) {
    const start = text.indexOf(claim.text, from);
    if (start < 0 || claim.text === '') continue;
    from = start + claim.text.length;
    if (!claim.supported) failed.push({ start, end: from, why: claim.why ?? '', uncited: !claim.cites?.length });
  }
  return failed;
}

// finishedLength is the number of characters of a growing text that make whole
// sentences and lines: what can be read aloud.
export function finishedLength(text) {
  const m = /^[\s\S]*(?:[。！？；\n]|[.!?](?=\s))(?:\s*\[\d{1,3}\])*/.exec(text);
  return m ? m[0].length : 0;
}

// spoken is a text without its markers and Markdown signs.
export function spoken(text) {
  return text.replace(/\s*\[\d{1,3}\]/g, '').replace(/^\s*(?:[-*+]|#{1,6}|>)\s+/gm, '').replace(/[*`|]/g, '').trim();
}
