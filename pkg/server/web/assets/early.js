// Runs before the first paint, so that neither the theme nor the language of a
// reader who chose one flickers. Storage may be closed to the page.
(() => {
  const root = document.documentElement;
  let theme, language;
  try {
    theme = localStorage.getItem('kb.theme');
    language = localStorage.getItem('kb.language');
  } catch { /* the defaults serve */ }
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  const zh = language ? language === 'zh' : /^zh\b/i.test(navigator.language);
  root.lang = zh ? 'zh-CN' : 'en';
})();
