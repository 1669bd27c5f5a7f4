// Puts the parts of the page together.

import * as api from './api.js';
import * as conversation from './conversation.js';
import * as documents from './documents.js';
import { byId } from './dom.js';
import * as i18n from './i18n.js';
import * as panel from './panel.js';
import * as prefs from './prefs.js';
import * as token from './token.js';
import * as uploads from './uploads.js';
import * as welcome from './welcome.js';

let known = null; // the documents, once they were read

const drawWelcome = () => welcome.draw(known, conversation.isEmpty(), { open: panel.openDocument, choose: uploads.choose });

// Escape closes what lies on top; "/" goes to the question from anywhere but a
// field.
function onKey(e) {
  if (e.defaultPrevented || e.isComposing) return;
  if (e.key === 'Escape') escape(e);
  if (e.key === '/' && !e.ctrlKey && !e.metaKey && !e.altKey && !e.target.closest('input, textarea, dialog')) {
    e.preventDefault();
    panel.close();
    byId('question').focus();
  }
}

function escape(e) {
  if (document.querySelector('dialog[open]')) return; // closes by itself
  if (panel.isOpen()) panel.close();
  else if (documents.isOpen()) documents.toggle(false);
  else if (conversation.isRunning()) conversation.stop();
  else return;
  e.preventDefault();
}

api.takeToken();
addEventListener('hashchange', api.takeToken);
api.onToken(token.ask);
i18n.start();
prefs.start();
token.start();
panel.start();
documents.start({
  onOpen: panel.openDocument,
  onChange: (all) => {
    known = all;
    drawWelcome();
  },
});
uploads.start({ onAdded: documents.refresh });
conversation.start({ open: panel.openPassage, onChange: drawWelcome });
addEventListener('keydown', onKey);
byId('question').focus();

await conversation.restore(); // first, so that no welcome flashes up before it
await documents.refresh();
document.body.classList.add('ready');
