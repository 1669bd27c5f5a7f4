// The dialog that asks for the server's token.

import { byId } from './dom.js';

// ask resolves with what a person typed, or with null.
export function ask() {
  const dialog = byId('token');
  const input = byId('token-input');
  input.value = '';
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.onclose = () => resolve(dialog.returnValue === 'ok' ? input.value.trim() : null);
  });
}

export function start() {
  byId('token-cancel').addEventListener('click', () => byId('token').close(''));
}
