// Building DOM nodes. Text of notes and models only ever becomes text nodes:
// nothing on this page parses HTML.

// el makes an element: props are properties (className, hidden, …), attributes
// where a name has a dash or is one of ATTRIBUTES, and on* listeners.
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name.includes('-') || ATTRIBUTES.has(name)) node.setAttribute(name, value);
    else node[name] = value;
  }
  node.append(...children.filter((c) => c !== undefined && c !== null && c !== ''));
  return node;
}

const ATTRIBUTES = new Set(['role', 'lang', 'for', 'scope']);

// icon is a drawing of icon.svg.
export function icon(name) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
  use.setAttribute('href', `assets/icon.svg#${name}`);
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  svg.append(use);
  return svg;
}

export const byId = (id) => document.getElementById(id);

// languageOf is the lang attribute for a text in its own language.
export function languageOf(text) {
  if (/[\u3040-\u30ff]/.test(text)) return 'ja';
  if (/\p{Script=Han}/u.test(text)) return 'zh-CN';
  return 'en';
}

// storage is sessionStorage or localStorage, or nothing where it is closed.
export function storage(kind) {
  return {
    get(key) { try { return window[kind].getItem(key); } catch { return null; } },
    set(key, value) {
      try {
        if (value === null) window[kind].removeItem(key);
        else window[kind].setItem(key, value);
      } catch { /* lives until the page is closed */ }
    },
  };
}
