// Stands in for the client of the protocol.
const { record, settings } = globalThis.editor;

export class LanguageClient {
  constructor(id, name, server, options) {
    record("client", { id, name, server, options });
  }

  async start() {
    if (settings.fails) throw new Error("spawn rdc ENOENT");
    record("start");
  }

  async stop() {
    record("stop");
  }
}
