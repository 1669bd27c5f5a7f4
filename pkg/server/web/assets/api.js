// The HTTP interface of kb serve. Addresses are relative, so the page also works
// below a path of a reverse proxy.

import { storage } from './dom.js';
import { events } from './sse.js';

const kept = storage('sessionStorage');
let token = kept.get('kb.token');
let askForToken = async () => null;

// ApiError is a refusal of the server (status, code, message), or a failure to
// reach it (status 0).
export class ApiError extends Error {
  constructor(status, code, message, retryAfter) {
    super(message);
    Object.assign(this, { status, code, retryAfter });
  }

  // words names the phrase that tells a person what happened, for i18n.
  words() {
    const args = { message: this.message };
    switch (this.code) {
      case 'network': return { key: 'errNetwork', args };
      case 'cut': return { key: 'errCut', args };
      case 'unauthorized': return { key: 'errToken', args };
      case 'rate_limited': return this.retryAfter ? { key: 'errBusyFor', args: { n: this.retryAfter } } : { key: 'errBusy', args };
      case 'upstream': return { key: 'errModel', args };
      case 'unavailable': return { key: 'errUnavailable', args };
      default: return { key: 'errOther', args };
    }
  }
}

// takeToken keeps the token of the address (#token=…) and removes it from there.
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given === null) return;
  token = given;
  kept.set('kb.token', token);
  history.replaceState(history.state, '', location.pathname + location.search);
}

// onToken sets how a person is asked for the token.
export function onToken(ask) { askForToken = ask; }

let asking = null;

// newToken asks for a token once, however many requests wait for it.
async function newToken(refused) {
  if (token !== refused) return true; // somebody was quicker
  asking ??= askForToken().finally(() => { asking = null; });
  const given = await asking;
  if (given === null) return false;
  token = given;
  kept.set('kb.token', token);
  return true;
}

const address = (path) => new URL(path, document.baseURI);

const authorization = () => token ? { Authorization: `Bearer ${token}` } : {};

// request sends one request, and once more for each token that a person gives.
async function request(path, options = {}) {
  for (;;) {
    const used = token;
    let response;
    try {
      response = await fetch(address(path), { ...options, headers: { ...options.headers, ...authorization() } });
    } catch (err) {
      throw err.name === 'AbortError' ? err : new ApiError(0, 'network', String(err.message));
    }
    if (response.ok) return response;
    if (response.status === 401 && await newToken(used)) continue;
    throw refusal(response.status, await response.text(), response.headers.get('Retry-After'));
  }
}

// refusal reads the body of an error; a proxy in between may have written it.
function refusal(status, body, retryAfter) {
  let error = {};
  try { error = JSON.parse(body).error ?? {}; } catch { /* not of kb */ }
  const code = error.code ?? { 401: 'unauthorized', 429: 'rate_limited', 502: 'upstream', 503: 'unavailable' }[status] ?? 'internal';
  return new ApiError(status, code, error.message ?? `HTTP ${status}`, Number(retryAfter) || 0);
}

const json = async (path, options) => (await request(path, options)).json();

export const health = () => json('health');
export const documents = () => json('documents');
export const documentOf = (id) => json(`documents/${encodeURIComponent(id)}`);
export const deleteDocument = (id) => request(`documents/${encodeURIComponent(id)}`, { method: 'DELETE' });
export const passage = (id, context) => json(`passages/${encodeURIComponent(id)}?context=${context}`);
export const historyOf = (session) => json(`chat/${encodeURIComponent(session)}/history`);
export const forget = (session) => request(`chat/${encodeURIComponent(session)}`, { method: 'DELETE' });

// chat asks a question and yields the events {event, data} of its answer. It
// ends with done, or throws.
export async function* chat(question, session, signal) {
  const body = JSON.stringify(session ? { question, session } : { question });
  const response = await request('chat/stream', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body, signal });
  try {
    for await (const { event, data } of events(response.body)) {
      const value = JSON.parse(data);
      if (event === 'error') throw new ApiError(200, value.code, value.message);
      yield { event, data: value };
      if (event === 'done') return;
    }
  } catch (err) {
    if (err instanceof ApiError || err.name === 'AbortError') throw err;
    throw new ApiError(0, 'cut', String(err.message));
  }
  throw new ApiError(0, 'cut', '');
}

// upload sends one file; progress is called with the part sent, 0 to 1.
export async function upload(file, progress, signal) {
  for (;;) {
    const used = token;
    const { status, body, retryAfter } = await send(file, progress, signal);
    if (status >= 200 && status < 300) return JSON.parse(body);
    if (status === 401 && await newToken(used)) continue;
    throw refusal(status, body, retryAfter);
  }
}

// send uses XMLHttpRequest, as fetch cannot tell how much of a body has gone.
function send(file, progress, signal) {
  return new Promise((resolve, reject) => {
    const form = new FormData();
    form.append('file', file, file.name);
    const xhr = new XMLHttpRequest();
    xhr.open('POST', address('documents'));
    for (const [name, value] of Object.entries(authorization())) xhr.setRequestHeader(name, value);
    xhr.upload.onprogress = (e) => { if (e.lengthComputable) progress(e.loaded / e.total); };
    xhr.upload.onload = () => progress(1);
    xhr.onload = () => resolve({ status: xhr.status, body: xhr.responseText, retryAfter: xhr.getResponseHeader('Retry-After') });
    xhr.onerror = () => reject(new ApiError(0, 'network', ''));
    xhr.onabort = () => reject(new DOMException('aborted', 'AbortError'));
    signal.addEventListener('abort', () => xhr.abort());
    xhr.send(form);
  });
}
