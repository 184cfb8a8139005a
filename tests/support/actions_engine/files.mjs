// The files by which a step tells the runner something: $GITHUB_OUTPUT, $GITHUB_ENV, $GITHUB_PATH and the summary.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const KINDS = ["output", "env", "path", "step_summary", "state"];
const LARGEST_SUMMARY = 1024 * 1024;

/** Fresh files for a step, by kind. */
export function freshFiles(temp, number) {
  const files = Object.fromEntries(KINDS.map((kind) => [kind, join(temp, `${kind}-${number}`)]));
  for (const file of Object.values(files)) writeFileSync(file, "");
  return files;
}

/** Pairs of name and value in a file with lines `NAME=value` and blocks `NAME<<END`. Throws where it is neither. */
export function readPairs(file) {
  const lines = text(file).split("\n");
  const pairs = [];
  while (lines.length) {
    const line = lines.shift();
    if (line) pairs.push(readPair(line, lines));
  }
  return pairs;
}

function readPair(line, rest) {
  const [sign] = /=|<</.exec(line) ?? [];
  const [name, value] = sign ? [line.slice(0, line.indexOf(sign)), line.slice(line.indexOf(sign) + sign.length)] : [];
  if (!name) throw new Error(`Invalid format '${line}'`);
  if (sign === "=") return [name, value];
  if (!value) throw new Error(`Invalid format '${line}'`);
  const end = rest.indexOf(value);
  if (end < 0) throw new Error(`Invalid value. Matching delimiter not found '${value}'`);
  const block = rest.splice(0, end + 1);
  return [name, block.slice(0, -1).join("\n")];
}

/** The folders in a file for the path, in order. */
export function readFolders(file) {
  return text(file)
    .split(/\r?\n|\r/)
    .filter(Boolean);
}

/** The summary; empty where it is larger than GitHub takes. */
export function readSummary(file) {
  return statSync(file, { throwIfNoEntry: false })?.size > LARGEST_SUMMARY ? "" : text(file);
}

function text(file) {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return ""; // a step may remove it
    throw error;
  }
}
