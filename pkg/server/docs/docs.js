// Shows openapi.json: each operation with its parameters, bodies, responses and
// a command that makes the request. Text of the description becomes text nodes.

const el = (name, props = {}, ...children) => {
  const node = Object.assign(document.createElement(name), props);
  node.append(...children.filter((c) => c !== null));
  return node;
};

let schemas = {};
const resolve = (s) => s.$ref ? schemas[s.$ref.split('/').pop()] : s;
const nameOf = (s) => s.$ref?.split('/').pop();

// kind is a schema in a few words.
function kind(s) {
  if (s.$ref) return nameOf(s);
  if (s.const) return JSON.stringify(s.const);
  if (s.enum) return s.enum.map((v) => JSON.stringify(v)).join(' | ');
  if (s.anyOf) return s.anyOf.map(kind).join(' or ');
  if (s.type === 'array') return `[${kind(s.items)}]`;
  const limits = [['minimum', '≥'], ['maximum', '≤'], ['maxLength', 'length ≤']].filter(([k]) => k in s).map(([k, sign]) => ` ${sign} ${s[k]}`);
  return (s.type ?? 'any') + limits.join('');
}

const row = (name, required, s, text) => el('tr', {},
  el('th', { scope: 'row' }, el('code', {}, name), required ? ' *' : ''),
  el('td', {}, el('code', {}, kind(s))),
  el('td', { className: 'dim' }, text ?? ''));

// fields is the table of an object's fields.
function fields(schema) {
  const s = resolve(schema);
  if (!s.properties) return el('p', {}, el('code', {}, kind(schema)));
  const rows = Object.entries(s.properties).map(([name, p]) => row(name, s.required?.includes(name), p, p.description));
  return el('table', {}, el('tbody', {}, ...rows));
}

const fold = (summary, ...children) => el('details', {}, el('summary', {}, ...summary), ...children);

function bodyOf(content) {
  return Object.entries(content).map(([type, c]) => c['x-events']
    ? el('div', {}, ...Object.entries(c['x-events']).map(([name, s]) => fold([`event ${name}: `, el('code', {}, kind(s))], fields(s))))
    : fold([`${type}: `, el('code', {}, kind(c.schema))], ...(c.schema.anyOf ?? [c.schema]).map(fields)));
}

// command is how curl makes the request.
function command(method, path, op) {
  const url = `${location.origin}${path.replace(/\{(\w+)\}/g, (_, name) => `$${name.toUpperCase()}`)}`;
  const type = Object.keys(op.requestBody?.content ?? {})[0];
  const query = (op.parameters ?? []).find((p) => p.in === 'query' && p.required);
  const parts = ['curl', path.endsWith('/stream') ? '-N' : '', method === 'delete' ? '-X DELETE' : '', op.security ? '' : "-H \"Authorization: Bearer $KB_TOKEN\"",
    type === 'application/json' ? `-H 'Content-Type: application/json' -d '{"question":"…"}'` : '',
    type === 'multipart/form-data' ? '-F file=@notes.md' : '',
    query ? `-G --data-urlencode '${query.name}=…'` : '', url];
  return parts.filter(Boolean).join(' ');
}

function operation(method, path, op) {
  const parameters = (op.parameters ?? []).map((p) => row(p.name, p.required, p.schema, p.description));
  const responses = Object.entries(op.responses).map(([status, r]) => el('tr', {},
    el('th', { scope: 'row' }, status), el('td', {}, r.description, ...(r.content && status < '300' ? bodyOf(r.content) : []))));
  return el('article', { id: op.operationId },
    el('h3', {}, el('code', {}, `${method.toUpperCase()} ${path}`)),
    el('p', {}, op.summary, op.description ? `. ${op.description}` : ''),
    parameters.length ? el('table', {}, el('tbody', {}, ...parameters)) : null,
    op.requestBody ? el('div', {}, ...bodyOf(op.requestBody.content)) : null,
    el('pre', {}, command(method, path, op)),
    fold(['Responses'], el('table', {}, el('tbody', {}, ...responses))));
}

function show(api) {
  schemas = api.components.schemas;
  document.getElementById('about').prepend(`${api.info.description} `);
  const all = Object.entries(api.paths).flatMap(([path, ops]) => Object.entries(ops).map(([method, op]) => ({ path, method, op })));
  const main = document.getElementById('operations');
  for (const { name } of api.tags) {
    const own = all.filter(({ op }) => op.tags.includes(name));
    main.append(el('section', {}, el('h2', {}, name), ...own.map(({ path, method, op }) => operation(method, path, op))));
  }
  const links = all.map(({ path, method, op }) => el('li', {}, el('a', { href: `#${op.operationId}` }, el('code', {}, `${method.toUpperCase()} ${path}`))));
  document.getElementById('contents').append(el('ul', {}, ...links));
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

const response = await fetch('openapi.json');
show(await response.json());
