// Runs the extension as a script of steps says, and prints what it did.
const script = JSON.parse(process.argv[2]);
const done = [];
globalThis.editor = {
  record: (name, value) => done.push([name, value]),
  settings: { "rdc.path": "rdc", ...script.settings },
  documents: script.documents ?? [],
  handlers: {},
};
const { activate, deactivate } = await import(`${process.cwd()}/extension.cjs`);
const settle = () => new Promise((resolve) => setTimeout(resolve, 5));
const subscriptions = [];
activate({ subscriptions });
await settle();
for (const [name, value] of script.steps ?? []) {
  if (name === "set") Object.assign(globalThis.editor.settings, value);
  else await globalThis.editor.handlers[name](name === "configuration" ? { affectsConfiguration: (key) => key === value } : value);
  await settle();
}
await deactivate();
console.log(JSON.stringify(done));
