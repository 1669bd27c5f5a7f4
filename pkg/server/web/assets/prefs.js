// What a reader chose: the theme and the language.

import { byId, storage } from './dom.js';
import { bind, isChinese, setLanguage } from './i18n.js';

const kept = storage('localStorage');
const root = document.documentElement;
const THEMES = ['auto', 'light', 'dark'];
const NAMES = { auto: 'themeAuto', light: 'themeLight', dark: 'themeDark' };
const SIGNS = { auto: '◐', light: '☀', dark: '☾' };

const theme = () => root.dataset.theme ?? 'auto';

function setTheme(name) {
  if (name === 'auto') delete root.dataset.theme;
  else root.dataset.theme = name;
  kept.set('kb.theme', name === 'auto' ? null : name);
  showTheme();
}

function showTheme() {
  const button = byId('theme');
  button.textContent = SIGNS[theme()];
  bind(button, NAMES[theme()], {}, 'aria-label');
  bind(button, NAMES[theme()], {}, 'title');
}

function showLanguage() {
  const button = byId('language');
  button.textContent = isChinese() ? 'English' : '中文';
  button.lang = isChinese() ? 'en' : 'zh-CN';
}

export function start() {
  showTheme();
  showLanguage();
  byId('theme').addEventListener('click', () => setTheme(THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length]));
  byId('language').addEventListener('click', () => {
    setLanguage(!isChinese());
    showLanguage();
  });
}
