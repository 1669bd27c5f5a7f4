// The words of the page in English and Chinese. The text of notes and answers
// keeps its own language.

import { el, storage } from './dom.js';

const EN = {
  skip: 'Skip to the question',
  documents: 'Documents',
  newConversation: 'New conversation',
  question: 'Question',
  placeholder: 'Ask your notes…',
  composerHint: 'Enter asks, Shift + Enter begins a new line, / comes back here',
  send: 'Ask',
  stop: 'Stop',
  themeAuto: 'Theme: system', themeLight: 'Theme: light', themeDark: 'Theme: dark',

  welcomeTitle: 'What do you want to know?',
  welcomeText: 'Answers come from your notes alone, each sentence with the passage it rests on.',
  welcomeDocuments: 'Some of your documents',
  emptyTitle: 'No notes yet',
  emptyText: 'Drop files anywhere on this page, or choose them: Markdown, text, PDF, HTML and Word. Then ask.',

  you: 'You asked',
  searchedFor: 'searched for: {text}',
  searching: 'Searching the notes…',
  writing: 'Answering…',
  answerReady: 'Answer complete. {sources}{failed}',
  sourceCount: { one: '{n} source.', other: '{n} sources.' },
  failedCount: { one: ' {n} of {of} claims is not supported by its source.', other: ' {n} of {of} claims are not supported by their sources.' },
  failedNote: { one: '{n} of {of} claims is not supported by its source.', other: '{n} of {of} claims are not supported by their sources.' },
  claimBegins: 'Not supported:',
  sources: 'Sources',
  source: 'Source',
  unused: 'not cited',
  nearest: 'The nearest notes',
  searched: 'Searched {chunks} in {documents}.',
  chunks: { one: '{n} passage', other: '{n} passages' },
  documentCount: { one: '{n} document', other: '{n} documents' },
  tooWeak: 'The best match was too weak: confidence {confidence}, needed {floor}.',
  nothingNear: 'Nothing in them comes near the question.',
  whyRefused: 'Why',
  invalid: { one: 'A citation of a passage that does not exist was removed: {list}.', other: 'Citations of passages that do not exist were removed: {list}.' },
  incomplete: 'The answer is not complete.',
  stopped: 'Stopped.',
  cached: 'This answer was given before, to the same question and the same notes.',
  legMissing: 'Searched without {leg}: {why}',
  copy: 'Copy',
  copied: 'Copied',
  retry: 'Try again',
  score: 'score {n}',
  page: 'p. {n}',
  line: 'line {n}',

  closePanel: 'Close the passage',
  opening: 'Opening…',
  gone: 'This passage is no longer in the index. Its document was changed or deleted; ask again.',
  passageOf: 'passage {n} of {of}',
  showAll: 'Show the whole document',

  addFiles: 'Add files',
  closeDocuments: 'Close the documents',
  filter: 'Filter documents',
  noMatch: 'No document matches “{text}”.',
  more: { one: 'and {n} more: type to find it', other: 'and {n} more: type to find them' },
  unread: { one: '{n} file could not be read', other: '{n} files could not be read' },
  deleteDocument: 'Delete {name}',
  confirmTitle: 'Delete “{name}”?',
  confirmText: 'The file {path} is deleted from your notes folder and from the index. This cannot be undone.',
  keepFile: 'Keep it',
  deleteFile: 'Delete the file',
  deleted: '{name} was deleted.',
  uploads: 'Uploads',
  dropHere: 'Drop files to add them to your notes',
  uploading: 'uploading',
  waiting: 'waiting',
  reading: 'reading…',
  created: 'added, {chunks}',
  updated: 'replaced, {chunks}',
  unchanged: 'already there, unchanged',
  dismiss: 'Dismiss {name}',
  cancelUpload: 'Cancel {name}',
  folder: 'A folder cannot be added. Drop the files in it.',
  uploadDone: '{name}: {result}',
  offline: 'Offline: answers are sentences of your notes',
  modelIs: 'Answers by {model}',

  tokenTitle: 'This server asks for a token',
  tokenText: 'It is the one given with --token or KB_TOKEN. It is kept until this tab is closed.',
  token: 'Token',
  useToken: 'Continue',
  cancel: 'Cancel',

  errNetwork: 'The server cannot be reached. Is kb serve still running?',
  errCut: 'The connection broke before the answer was complete.',
  errToken: 'The server wants a token.',
  errBusy: 'Too many requests at once. Try again in a moment.',
  errBusyFor: { one: 'Too many requests at once. Try again in {n} second.', other: 'Too many requests at once. Try again in {n} seconds.' },
  errModel: 'The model did not answer: {message}',
  errUnavailable: 'The index cannot be read at the moment: {message}',
  errOther: '{message}',
};

const ZH = {
  skip: '跳到提问框',
  documents: '文档',
  newConversation: '新对话',
  question: '问题',
  placeholder: '向笔记提问…',
  composerHint: 'Enter 提问，Shift + Enter 换行，按 / 回到这里',
  send: '提问',
  stop: '停止',
  themeAuto: '主题：跟随系统', themeLight: '主题：浅色', themeDark: '主题：深色',

  welcomeTitle: '想了解什么？',
  welcomeText: '回答只来自你的笔记，每句话都附有它所依据的原文。',
  welcomeDocuments: '你的部分文档',
  emptyTitle: '还没有笔记',
  emptyText: '把文件拖到页面任意位置，或点按钮选择：支持 Markdown、文本、PDF、HTML 和 Word。然后就可以提问。',

  you: '你的问题',
  searchedFor: '实际检索：{text}',
  searching: '正在检索笔记…',
  writing: '正在回答…',
  answerReady: '回答完成。{sources}{failed}',
  sourceCount: '共 {n} 个来源。',
  failedCount: '{of} 条说法中有 {n} 条没有来源支持。',
  failedNote: '{of} 条说法中有 {n} 条没有来源支持。',
  claimBegins: '没有来源支持：',
  sources: '来源',
  source: '来源',
  unused: '未引用',
  nearest: '最接近的笔记',
  searched: '检索了 {documents}、{chunks}。',
  chunks: '{n} 个片段',
  documentCount: '{n} 篇文档',
  tooWeak: '最佳匹配太弱：置信度 {confidence}，需要 {floor}。',
  nothingNear: '其中没有与问题相近的内容。',
  whyRefused: '原因',
  invalid: '已去掉不存在的引用：{list}。',
  incomplete: '回答不完整。',
  stopped: '已停止。',
  cached: '同样的问题、同样的笔记之前已回答过，这里是那次的回答。',
  legMissing: '检索时缺少 {leg}：{why}',
  copy: '复制',
  copied: '已复制',
  retry: '重试',
  score: '得分 {n}',
  page: '第 {n} 页',
  line: '第 {n} 行',

  closePanel: '关闭原文',
  opening: '正在打开…',
  gone: '索引里已经没有这个片段：文档被修改或删除了，请重新提问。',
  passageOf: '第 {n} 个片段，共 {of} 个',
  showAll: '显示全文',

  addFiles: '添加文件',
  closeDocuments: '关闭文档列表',
  filter: '筛选文档',
  noMatch: '没有匹配“{text}”的文档。',
  more: '另有 {n} 篇，输入文字查找',
  unread: '{n} 个文件无法读取',
  deleteDocument: '删除 {name}',
  confirmTitle: '删除“{name}”？',
  confirmText: '文件 {path} 将从笔记文件夹和索引中删除，无法恢复。',
  keepFile: '保留',
  deleteFile: '删除文件',
  deleted: '{name} 已删除。',
  uploads: '上传',
  dropHere: '松开即可把文件加入笔记',
  uploading: '正在上传',
  waiting: '等待中',
  reading: '正在读取…',
  created: '已添加，{chunks}',
  updated: '已替换，{chunks}',
  unchanged: '已存在，没有变化',
  dismiss: '移除 {name}',
  cancelUpload: '取消上传 {name}',
  folder: '不能添加文件夹，请拖入其中的文件。',
  uploadDone: '{name}：{result}',
  offline: '离线模式：回答摘自笔记原句',
  modelIs: '由 {model} 回答',

  tokenTitle: '需要访问令牌',
  tokenText: '即启动服务时用 --token 或 KB_TOKEN 指定的令牌。关闭此标签页后即失效。',
  token: '令牌',
  useToken: '继续',
  cancel: '取消',

  errNetwork: '无法连接服务器。kb serve 还在运行吗？',
  errCut: '回答尚未完成，连接就断开了。',
  errToken: '服务器需要访问令牌。',
  errBusy: '请求太多，请稍后再试。',
  errBusyFor: '请求太多，请在 {n} 秒后再试。',
  errModel: '模型没有回答：{message}',
  errUnavailable: '暂时无法读取索引：{message}',
  errOther: '{message}',
};

const kept = storage('localStorage');

export const isChinese = () => document.documentElement.lang === 'zh-CN';

// phrase is the text of a key in the page's language. Arguments that are
// {key, args} are phrases themselves; n chooses between one and other.
export function phrase(key, args = {}) {
  let words = (isChinese() ? ZH : EN)[key];
  if (typeof words === 'object') words = words[args.n === 1 ? 'one' : 'other'];
  return words.replace(/\{(\w+)\}/g, (_, name) => {
    const value = args[name];
    if (value?.key) return phrase(value.key, value.args);
    return typeof value === 'number' ? value.toLocaleString(document.documentElement.lang) : String(value ?? '');
  });
}

// say is a span with a phrase that follows the language of the page.
export const say = (key, args) => bind(el('span'), key, args);

// bind makes the text of a node, or one of its attributes, follow the language
// of the page. It returns the node.
export function bind(node, key, args = {}, attribute = '') {
  const entries = bound.get(node) ?? new Map();
  entries.set(attribute, { key, args });
  bound.set(node, entries);
  node.dataset.said = '';
  speak(node, attribute, key, args);
  return node;
}

const bound = new WeakMap();

function speak(node, attribute, key, args) {
  if (attribute === '') node.textContent = phrase(key, args);
  else node.setAttribute(attribute, phrase(key, args));
}

const STATIC = [['i18n', ''], ['i18nLabel', 'aria-label'], ['i18nPlaceholder', 'placeholder']];

// start binds the nodes of the document that name their phrase themselves.
export function start() {
  for (const node of document.querySelectorAll('[data-i18n], [data-i18n-label], [data-i18n-placeholder]')) {
    for (const [name, attribute] of STATIC) {
      if (node.dataset[name]) bind(node, node.dataset[name], {}, attribute);
    }
  }
}

// setLanguage switches everything that is on the page.
export function setLanguage(zh) {
  document.documentElement.lang = zh ? 'zh-CN' : 'en';
  kept.set('kb.language', zh ? 'zh' : 'en');
  for (const node of document.querySelectorAll('[data-said]')) {
    for (const [attribute, { key, args }] of bound.get(node) ?? []) speak(node, attribute, key, args);
  }
}
