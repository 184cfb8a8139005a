// Reads diagrams, one JSON string a line; answers each with a line of JSON: what Mermaid sees in it, or its error.
import { createInterface } from "node:readline";
import { JSDOM } from "jsdom";

globalThis.window = new JSDOM("").window; // for the sanitizer of labels
globalThis.document = window.document;
const { default: mermaid } = await import("mermaid");

// Mermaid keeps entity codes in a form of its own until it draws.
const decoded = (text) => (text ?? "").replace(/ﬂ°°/g, "&#").replace(/ﬂ°/g, "&").replace(/¶ß/g, ";");

async function seen(text) {
  await mermaid.parse(text);
  const { db } = await mermaid.mermaidAPI.getDiagramFromText(text);
  const boxes = [...db.getVertices().values()];
  return {
    boxes: boxes.map((box) => [box.id, decoded(box.text), box.type ?? "", box.classes, box.link ?? ""]),
    arrows: db.getEdges().map((edge) => [edge.start, edge.end, decoded(edge.text), edge.stroke, edge.style ?? []]),
    frames: db.getSubGraphs().map((frame) => [frame.id, decoded(frame.title), frame.nodes]),
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await seen(JSON.parse(line)).catch((error) => ({ error: String(error) }));
  process.stdout.write(JSON.stringify(answer) + "\n");
}
