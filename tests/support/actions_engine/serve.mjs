// Reads requests, one JSON object a line, and answers each with a line of JSON: its result, or `error`.
import { createInterface } from "node:readline";
import { complaints } from "./parse.mjs";
import { tidied, walk } from "./run.mjs";

const TASKS = { complaints: async ({ workflow }) => ({ complaints: await complaints(workflow) }), walk };

async function serve() {
  for await (const line of createInterface({ input: process.stdin })) {
    const { task, ...request } = JSON.parse(line);
    const answer = await TASKS[task](request).catch((error) => ({ error: error.message, stack: error.stack }));
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
}

serve()
  .then(tidied)
  .then(() => process.exit());
