// Tables for the functions of the page. The value of this script is a list of
// what failed.
(async () => {
  const { EventParser, events } = await import('/assets/sse.js');
  const { splitMarkers, failedClaims, finishedLength, spoken } = await import('/assets/markers.js');
  const { parse } = await import('/assets/markdown.js');
  const { AnswerView } = await import('/assets/answer.js');

  const failures = [];
  const want = (name, got, expected) => {
    const [g, e] = [JSON.stringify(got), JSON.stringify(expected)];
    if (g !== e) failures.push(`${name}: ${g}, want ${e}`);
  };

  // Server-sent events: whole, and cut at each place.
  const stream = '\uFEFF: keep-alive\n\nevent: delta\ndata: {"text":"资料"}\n\r\nevent: done\r\ndata: a\r\ndata:  b\r\n\r\nid: 7\ndata\n\ndata: cut off';
  const expected = [{ event: 'delta', data: '{"text":"资料"}' }, { event: 'done', data: 'a\n b' }, { event: 'message', data: '' }];
  for (let i = 0; i <= stream.length; i++) {
    const parser = new EventParser();
    want(`events cut at ${i}`, [...parser.push(stream.slice(0, i)), ...parser.push(stream.slice(i))], expected);
  }

  // Characters cut in two by the network.
  const bytes = new TextEncoder().encode('data: 资料🦉\n\n');
  for (let i = 0; i <= bytes.length; i++) {
    const body = new ReadableStream({ start(c) { c.enqueue(bytes.slice(0, i)); c.enqueue(bytes.slice(i)); c.close(); } });
    const got = [];
    for await (const e of events(body)) got.push(e.data);
    want(`bytes cut at ${i}`, got, ['资料🦉']);
  }

  const cut = (text, ...known) => splitMarkers(text, new Set(known)).map((p) => p.n ?? text.slice(p.start, p.end));
  want('markers', cut('a [1][2] b [3].', 1, 2), ['a ', 1, 2, ' b [3].']);
  want('no markers', cut('x[0] [2024] [ 1]', 1), ['x[0] [2024] [ 1]']);
  want('nothing', cut('', 1), []);

  const { ApiError } = await import('/assets/api.js');
  for (const [status, code, after, key] of [[429, 'rate_limited', 7, 'errBusyFor'], [429, 'rate_limited', 0, 'errBusy'], [502, 'upstream', 0, 'errModel'],
    [503, 'unavailable', 0, 'errUnavailable'], [0, 'network', 0, 'errNetwork'], [0, 'cut', 0, 'errCut'], [400, 'bad_request', 0, 'errOther']]) {
    want(`words of ${code}`, new ApiError(status, code, 'm', after).words().key, key);
  }

  const claims = [{ text: 'A.', cites: [1], supported: true }, { text: 'B.', cites: [], supported: false, why: 'w' }, { text: 'gone', supported: false }, { text: 'A.', cites: [1], supported: false, why: 'v' }];
  want('claims', failedClaims('A. B. A.', claims), [{ start: 3, end: 5, why: 'w', uncited: true }, { start: 6, end: 8, why: 'v', uncited: false }]);

  for (const [text, n] of [['', 0], ['half a sentence', 0], ['One. Two', 4], ['版本 1.5 发布', 0], ['好的。再', 3], ['好的。[1] 再', 6], ['line\nnext', 5]]) {
    want(`finished: ${text}`, finishedLength(text), n);
  }
  want('spoken', spoken('- **A** `b` [1]\n# C'), 'A b\nC');

  const shape = (text) => parse(text, new Set([1])).map((b) => [b.type, ...(b.pieces ?? []).map((p) => p.kind + (p.bold ? '!' : '') + ':' + (p.n ?? text.slice(p.start, p.end)))]);
  for (const [text, blocks] of [
    ['a\nb\n\nc', [['p', 'text:a', 'break:\n', 'text:b'], ['p', 'text:c']]],
    ['# T **x**', [['h', 'text:T ', 'text!:x']]],
    ['- a\n  - b [1]\n1. c', [['item', 'text:a'], ['item', 'text:b ', 'cite:1'], ['item', 'text:c']]],
    ['```go\nx[1] := **y**\n```\nz', [['code', 'literal:x[1] := **y**'], ['p', 'text:z']]],
    ['```\nopen [1]', [['code', 'literal:open [1]']]],
    ['`a[1]` **b `c`** ** d **', [['p', 'code:a[1]', 'text: ', 'text!:b ', 'code!:c', 'text: ** d **']]],
    ['[t](https://x.example/a_(b)) [u](javascript:x) ![i](http://x.example/i.png)', [['p', 'link:t', 'text: ', 'text:u', 'text: ', 'text:i']]],
    ['见 https://x.example/a，然后', [['p', 'text:见 ', 'link:https://x.example/a', 'text:，然后']]],
    ['<b>x</b> &amp;', [['p', 'text:<b>x</b> &amp;']]],
    ['> q\n> r\n---', [['quote', 'text:q', 'break:\n> ', 'text:r'], ['rule']]],
    ['2 * 3 * 4 = 24', [['p', 'text:2 * 3 * 4 = 24']]],
    ['`unclosed **bold', [['p', 'text:`unclosed **bold']]],
  ]) want(`parse: ${text}`, shape(text), blocks);

  const table = '| a | b |\n| --- | :-: |\n| 1 \\| 2 | x [1] |\n\nend';
  want('table', parse(table, new Set([1]))[0].rows.map((r) => r.map((c) => c.map((p) => p.n ?? table.slice(p.start, p.end).trim()))), [[['a'], ['b']], [['1 \\| 2'], ['x', 1, '']]]);

  // Whatever is cut off while it streams, all of its text stays visible.
  const long = '# H\n\nA **b** [1] `c`.\n\n- d\n  - e\n\n1. f\n2. g\n\n| h | i |\n| - | - |\n| j | k |\n\n> l\n\n```\nm\n```\n[n](https://o.example/)';
  const root = document.createElement('div');
  const view = new AnswerView(root, { cite() {}, label: () => 'x' });
  for (let i = 1; i <= long.length; i++) {
    view.draw(long.slice(0, i), new Set([1]));
    const fresh = document.createElement('div');
    new AnswerView(fresh, { cite() {}, label: () => 'x' }).draw(long.slice(0, i), new Set([1]));
    if (root.innerHTML !== fresh.innerHTML) failures.push(`drawn anew at ${i}: ${root.innerHTML}, want ${fresh.innerHTML}`);
  }

  // A claim over several pieces is marked once, and its reason stands once.
  const text = 'Good [1]. **Bad** and `worse` [1].\n\n- item';
  view.draw(text, new Set([1]), failedClaims(text, [{ text: '**Bad** and `worse` [1].', cites: [1], supported: false, why: 'because' }, { text: 'item', cites: [], supported: false, why: 'no citation' }]));
  want('marked', [...root.querySelectorAll('.unsupported')].map((n) => n.textContent).join(''), 'Bad and worse Source 1.item');
  want('reasons', [...root.querySelectorAll('.why')].map((n) => n.textContent), ['✗ because', '✗ no citation']);
  return failures;
})()
