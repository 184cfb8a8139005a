// Reads diagrams, one JSON string a line; answers each with a line of JSON: what Mermaid sees in it, or its error.
// It listens on the socket that its argument names, and ends when nobody is connected any more.
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { runInThisContext } from "node:vm";
import { JSDOM } from "jsdom";

globalThis.window = new JSDOM("").window; // for the sanitizer of labels
globalThis.document = window.document;
// Mermaid as a script for pages, without the diagrams that rdc doesn't draw: one file instead of 100 packages.
runInThisContext(readFileSync(new URL(import.meta.resolve("@mermaid-js/tiny")), "utf8"));
const { mermaid } = globalThis;

// Mermaid keeps entity codes in a form of its own until it draws.
const decoded = (text) => (text ?? "").replace(/ﬂ°°/g, "&#").replace(/ﬂ°/g, "&").replace(/¶ß/g, ";");

// What sets options: `parse` heeds that, but reads each diagram a second time.
const OPTIONS = /%%\{|^---/;
await mermaid.parse("flowchart TD\n a");

async function seen(text) {
  if (OPTIONS.test(text)) await mermaid.parse(text);
  const { db } = await mermaid.mermaidAPI.getDiagramFromText(text);
  const boxes = [...db.getVertices().values()];
  return {
    boxes: boxes.map((box) => [box.id, decoded(box.text), box.type ?? "", box.classes, box.link ?? ""]),
    arrows: db.getEdges().map((edge) => [edge.start, edge.end, decoded(edge.text), edge.stroke, edge.style ?? []]),
    frames: db.getSubGraphs().map((frame) => [frame.id, decoded(frame.title), frame.nodes]),
  };
}

async function serve(client) {
  for await (const line of createInterface({ input: client })) {
    const answer = await seen(JSON.parse(line)).catch((error) => ({ error: String(error) }));
    client.write(JSON.stringify(answer) + "\n");
  }
}

let connected = 0;
const server = createServer({ allowHalfOpen: true }, async (client) => {
  connected += 1;
  await serve(client.on("error", () => {})).catch(() => {}); // a worker may be killed at any time
  connected -= 1;
  if (!connected) process.exit();
  client.end();
});
server.listen(process.argv[2], () => console.log("ready"));
