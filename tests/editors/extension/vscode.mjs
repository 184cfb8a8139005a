// Stands in for the editor: records what the extension does.
const { record, settings, documents } = globalThis.editor;
const listen = (name) => (act) => {
  globalThis.editor.handlers[name] = act;
  return { dispose() {} };
};

export const Uri = { parse: (text) => ({ fsPath: decodeURIComponent(new URL(text).pathname) }) };
export const commands = { registerCommand: (name, act) => listen(name)(act) };
export const languages = { match: (selector, document) => (record("match", selector), document.isOurs ? 10 : 0) };
export const workspace = {
  getConfiguration: (section) => ({ get: (key) => settings[`${section}.${key}`] }),
  onDidOpenTextDocument: listen("open"),
  onDidChangeConfiguration: listen("configuration"),
  textDocuments: documents,
};
export const window = {
  activeTextEditor: { document: { fileName: "/active.runbook.md" } },
  terminals: [],
  createTerminal(options) {
    record("terminal", options);
    this.terminals.push({ name: options.name, dispose: () => record("dispose", options.name) });
    return { show: () => record("show") };
  },
  showErrorMessage: (text) => record("error", text),
};
