// Adding files: by the button or by dropping them anywhere, one after another,
// each with its progress and what became of it.

import * as api from './api.js';
import { byId, el } from './dom.js';
import { bind, phrase, say } from './i18n.js';

const rows = byId('uploads');
const input = byId('files');
const drop = byId('drop');

let queue = Promise.resolve();
let added;

// start wires the button and the page; onAdded is called when files were added.
export function start({ onAdded }) {
  added = onAdded;
  input.addEventListener('change', () => {
    add([...input.files].map((file) => ({ file })));
    input.value = ''; // the same file may be chosen again
  });
  byId('add').addEventListener('click', choose);
  startDropping();
}

export const choose = () => input.click();

// startDropping counts enters and leaves, as those of each element on the way
// arrive here.
function startDropping() {
  let depth = 0;
  const isFiles = (e) => e.dataTransfer?.types.includes('Files');
  const track = (by) => (e) => {
    if (!isFiles(e)) return;
    e.preventDefault();
    depth = by === 0 ? 0 : depth + by;
    drop.hidden = depth <= 0;
  };
  addEventListener('dragenter', track(1));
  addEventListener('dragleave', track(-1));
  addEventListener('dragover', (e) => { if (isFiles(e)) e.preventDefault(); });
  addEventListener('drop', (e) => {
    if (!isFiles(e)) return;
    track(0)(e);
    add(dropped(e.dataTransfer));
  });
}

// dropped lists files and folders; a folder has no content to send.
function dropped(transfer) {
  return [...transfer.items].filter((item) => item.kind === 'file').map((item) => {
    const file = item.getAsFile();
    return { file, folder: item.webkitGetAsEntry?.()?.isDirectory };
  }).filter(({ file }) => file);
}

function add(items) {
  if (items.length > 0) rows.querySelectorAll('.done').forEach((row) => row.remove());
  const uploads = items.map(({ file, folder }) => ({ folder, upload: new Upload(file) }));
  queue = queue.then(async () => {
    let any = false;
    for (const { folder, upload } of uploads) any = (folder ? upload.refuse('folder') : await upload.run()) || any;
    if (any) await added();
  });
}

// Upload is one row of the list.
class Upload {
  #file;
  #row;
  #bar = el('progress', { max: 1, value: 0 });
  #state = el('span', { className: 'upload-state' }, say('waiting'));
  #control = new AbortController();
  #button;

  constructor(file) {
    this.#file = file;
    this.#button = bind(el('button', { type: 'button', className: 'quiet close', onclick: () => this.#leave() }, '✕'),
      'cancelUpload', { name: file.name }, 'aria-label');
    bind(this.#bar, 'uploading', {}, 'aria-label');
    this.#row = el('li', { className: 'upload' }, el('span', { className: 'upload-name' }, file.name), this.#button, this.#bar, this.#state);
    rows.append(this.#row);
  }

  #leave() {
    this.#control.abort();
    this.#row.remove();
    byId('add').focus();
  }

  // run sends the file and says whether the notes changed.
  async run() {
    if (this.#control.signal.aborted) return false;
    bind(this.#state.firstChild, 'uploading');
    try {
      const result = await api.upload(this.#file, (part) => this.#progress(part), this.#control.signal);
      return this.#done(result);
    } catch (err) {
      if (err.name !== 'AbortError') this.#refused(err.words?.() ?? { key: 'errOther', args: { message: String(err) } });
      return false;
    }
  }

  #progress(part) {
    if (part < 1) {
      this.#bar.value = part;
      return;
    }
    this.#bar.removeAttribute('value'); // sent; the server reads it now
    bind(this.#state.firstChild, 'reading');
  }

  #done({ status, chunks }) {
    const key = ['created', 'updated', 'unchanged'].includes(status) ? status : 'created';
    this.#settle('done', key, { chunks: { key: 'chunks', args: { n: chunks ?? 0 } } });
    return key !== 'unchanged';
  }

  refuse(key) {
    this.#settle('refused', key, {});
    return false;
  }

  #refused({ key, args }) { this.#settle('refused', key, args); }

  #settle(className, key, args) {
    this.#row.classList.add(className);
    this.#bar.remove();
    bind(this.#state.firstChild, key, args);
    bind(this.#button, 'dismiss', { name: this.#file.name }, 'aria-label');
    byId('announce').textContent = phrase('uploadDone', { name: this.#file.name, result: { key, args } });
  }
}
