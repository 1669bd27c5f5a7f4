// Server-sent events out of a fetch, as EventSource can neither POST nor send a
// token. Format: https://html.spec.whatwg.org/multipage/server-sent-events.html

// EventParser takes pieces of text, cut anywhere, and returns the events that
// they complete, as {event, data}.
export class EventParser {
  #rest = '';
  #event = '';
  #data = [];
  #started = false;

  push(text) {
    if (!this.#started && text !== '') {
      this.#started = true;
      text = text.replace(/^\uFEFF/, '');
    }
    const events = [];
    this.#rest += text;
    // A CR at the very end may be half of a CRLF: it waits.
    const lines = this.#rest.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop();
    for (const line of lines) this.#line(line, events);
    return events;
  }

  #line(line, events) {
    if (line === '') {
      if (this.#data.length > 0) events.push({ event: this.#event || 'message', data: this.#data.join('\n') });
      this.#event = '';
      this.#data = [];
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return; // a comment: keep-alive
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.#event = value;
    if (field === 'data') this.#data.push(value);
  }
}

// events yields the events of a response body. Characters that were cut in two
// by the network are put together again.
export async function* events(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = new EventParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      yield* parser.push(done ? decoder.decode() : decoder.decode(value, { stream: true }));
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => {}); // closes the connection when the reader leaves early
  }
}
