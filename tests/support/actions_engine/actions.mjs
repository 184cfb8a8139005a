// The actions that generated workflows use, by name: what each does to the folders that it knows.
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { NotSimulated } from "./values.mjs";

class Failed extends Error {}

/**
 * Run an action. `place` has the folders `repository`, `workspace` and `artifacts` (of a run, by its id), the ids
 * `run` and `name` of the repository, says by `may(token, scope)` what a token may read, has the `numbers` of artifacts,
 * and calls `meddle()` before an artifact is kept.
 * Gives the outputs, or `failed`, the reason why the step fails.
 */
export function runAction(uses, inputs, place) {
  const name = uses.split("@")[0];
  const action = ACTIONS[name];
  if (!action || !uses.includes("@")) throw new NotSimulated(`not simulated: the action ${uses}`);
  const unknown = Object.keys(inputs).filter((input) => !action.inputs.includes(input));
  if (unknown.length) throw new NotSimulated(`not simulated: the input ${unknown} of ${name}`);
  try {
    return { outputs: action.run(inputs, place) ?? {} };
  } catch (error) {
    if (error instanceof Failed) return { outputs: {}, failed: error.message };
    throw error;
  }
}

const ACTIONS = {
  "actions/checkout": { inputs: ["persist-credentials", "fetch-depth"], run: checkout },
  "actions/upload-artifact": {
    inputs: [
      "name",
      "path",
      "overwrite",
      "include-hidden-files",
      "if-no-files-found",
      "retention-days",
      "compression-level",
    ],
    run: upload,
  },
  "actions/download-artifact": {
    inputs: ["name", "artifact-ids", "pattern", "merge-multiple", "path", "run-id", "github-token", "repository"],
    run: download,
  },
};

function checkout(_inputs, { repository, workspace }) {
  for (const entry of readdirSync(workspace)) rmSync(join(workspace, entry), { recursive: true, force: true });
  cpSync(repository, workspace, { recursive: true, verbatimSymlinks: true });
}

/** Keeps files without permissions and empty folders; what is hidden only if told to. */
function upload(inputs, { workspace, artifacts, run, meddle, numbers }) {
  meddle();
  const {
    name = "artifact",
    path,
    overwrite,
    "include-hidden-files": hidden,
    "if-no-files-found": none = "warn",
  } = inputs;
  if (!path || /[*?[\]!~\n]/.test(path)) throw new NotSimulated(`not simulated: upload of the path ${path}`);
  if (/[":<>|*?\r\n\\/]/.test(name)) throw new Failed(`The artifact name is not valid: ${name}`);
  const folder = join(artifacts(run), name);
  if (overwrite === "true") rmSync(folder, { recursive: true, force: true });
  else if (existsSync(folder))
    throw new Failed(`an artifact with this name already exists on the workflow run: ${name}`);
  const from = resolve(workspace, path);
  const files = existsSync(from) ? filesIn(from, hidden === "true") : [];
  if (!files.length && none === "error") throw new Failed(`No files were found with the provided path: ${path}`);
  for (const file of files) {
    const to = join(folder, file || basename(from));
    mkdirSync(dirname(to), { recursive: true });
    copyFileSync(join(from, file), to);
    chmodSync(to, 0o644);
  }
  return files.length ? { "artifact-id": numbers.next(run, name) } : {};
}

/** The files in a folder by their paths there; "" for a file itself. Links are followed, as the action does. */
function filesIn(from, hidden, inside = "") {
  const path = join(from, inside);
  if (!statSync(path).isDirectory()) return [inside];
  const entries = readdirSync(path).filter((entry) => hidden || !entry.startsWith("."));
  return entries.flatMap((entry) => filesIn(from, hidden, join(inside, entry)));
}

/**
 * Another run can be looked into with a token that may read actions; another repository not at all. A pattern may match
 * nothing, a name or an id may not.
 */
function download(inputs, { workspace, artifacts, run, name: here, may, numbers }) {
  const { pattern, path = ".", "run-id": other = run, "github-token": token, repository = here } = inputs;
  const ids = inputs["artifact-ids"];
  if (ids && (inputs.name || pattern || !/^\d+$/.test(ids)))
    throw new NotSimulated("not simulated: several artifacts by their ids");
  const name = (ids ? numbers.find(run, ids) : inputs.name) || pattern;
  if (ids && !name) throw new Failed("Unable to download artifact(s): None of the provided artifact IDs were found");
  if (!inputs.name && pattern && (inputs["merge-multiple"] !== "true" || /[^\w.-]/.test(pattern)))
    throw new NotSimulated("not simulated: a pattern that matches several artifacts");
  if (!name) throw new NotSimulated("not simulated: download of all artifacts");
  if (token !== undefined && !may(token, "actions")) throw new Failed("Resource not accessible by integration");
  const folder = join(artifacts(token === undefined ? run : other), name);
  if (repository !== here || !existsSync(folder)) {
    if (!inputs.name && !ids) return {};
    throw new Failed(`Unable to download artifact(s): Artifact not found for name: ${name}`);
  }
  cpSync(folder, resolve(workspace, path), { recursive: true });
  return { "download-path": resolve(workspace, path) };
}

/** The ids of artifacts of all runs, kept in a file: the number of the line with the run and the name. */
export class Numbers {
  constructor(file) {
    this.file = file;
  }

  /** A new id; one that an artifact of this name had leads nowhere from now on. */
  next(run, name) {
    const line = `${run} ${name}`;
    const lines = this.#lines().map((other) => (other === line ? "" : other));
    writeFileSync(this.file, [...lines, line, ""].join("\n"));
    return String(lines.length + 1);
  }

  /** The name of the artifact of a run; undefined if the run has none with this id. */
  find(run, id) {
    const [, of, name] = /^(\d+) (.*)$/.exec(this.#lines()[Number(id) - 1] ?? "") ?? [];
    return of === run ? name : undefined;
  }

  #lines() {
    return existsSync(this.file) ? readFileSync(this.file, "utf8").split("\n").slice(0, -1) : [];
  }
}
