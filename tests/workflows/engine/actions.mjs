// The actions that generated workflows use, by name: what each does to the folders that it knows.
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { NotSimulated } from "./values.mjs";

class Failed extends Error {}

/**
 * Run an action. `place` has the folders `repository`, `workspace` and `artifacts` (of a run, by its id), the ids
 * `run` and `name` of the repository, says by `may(token, scope)` what a token may read, and calls `meddle()` before an
 * artifact is kept.
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
    inputs: ["name", "pattern", "merge-multiple", "path", "run-id", "github-token", "repository"],
    run: download,
  },
};

function checkout(_inputs, { repository, workspace }) {
  for (const entry of readdirSync(workspace)) rmSync(join(workspace, entry), { recursive: true, force: true });
  cpSync(repository, workspace, { recursive: true, verbatimSymlinks: true });
}

/** Keeps files without permissions and empty folders; what is hidden only if told to. */
function upload(inputs, { workspace, artifacts, run, meddle }) {
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
  return files.length ? { "artifact-id": "1" } : {};
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
 * nothing, a name may not.
 */
function download(inputs, { workspace, artifacts, run, name: here, may }) {
  const { pattern, path = ".", "run-id": other = run, "github-token": token, repository = here } = inputs;
  const name = inputs.name || pattern;
  if (!inputs.name && pattern && (inputs["merge-multiple"] !== "true" || /[^\w.-]/.test(pattern)))
    throw new NotSimulated("not simulated: a pattern that matches several artifacts");
  if (!name) throw new NotSimulated("not simulated: download of all artifacts");
  if (token !== undefined && !may(token, "actions")) throw new Failed("Resource not accessible by integration");
  const folder = join(artifacts(token === undefined ? run : other), name);
  if (repository !== here || !existsSync(folder)) {
    if (!inputs.name) return {};
    throw new Failed(`Unable to download artifact(s): Artifact not found for name: ${name}`);
  }
  cpSync(folder, resolve(workspace, path), { recursive: true });
  return { "download-path": resolve(workspace, path) };
}
