// A job: its folders, its environment, and its steps in order.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { resolve, resolveText, resolveTexts } from "./parse.mjs";
import { runStep } from "./step.mjs";

/** Run a job, in the folder `place`. `known` are its contexts beyond those of its own; `name` is shown to people. */
export async function runJob(run, job, known, name, place = job.id) {
  const state = new Job(run, job, known, place);
  const steps = [];
  for (const [index, step] of job.steps.entries()) {
    const done = await runStep(state, step, index + 1);
    if (step.id) state.steps[step.id] = { outputs: done.outputs, outcome: done.outcome, conclusion: done.conclusion };
    if (done.conclusion === "failure" && state.status === "success") state.status = "failure";
    steps.push(done);
  }
  return {
    name,
    result: state.status,
    outputs: state.outputs(),
    steps,
    log: state.log,
    annotations: state.annotations,
  };
}

/** What the steps of a job share, and change. */
export class Job {
  status = "success";
  steps = {};
  path = [];
  log = "";
  annotations = [];

  constructor(run, job, known, place) {
    const { request, github, base } = run;
    const [, repository] = github.repository.split("/");
    this.run = run;
    this.id = job.id;
    this.declared = job;
    this.root = join(base, place);
    this.workspace = join(this.root, repository, repository);
    this.temp = join(this.root, "_temp");
    this.home = join(this.root, "home");
    for (const folder of [this.workspace, this.temp, this.home]) mkdirSync(folder, { recursive: true });
    const token = `ghs_${github.run_id}_${job.id}`;
    run.tokens.set(token, permissions(job.permissions ?? run.workflow.permissions));
    run.masks.add(token);
    this.secrets = { ...request.secrets, GITHUB_TOKEN: token };
    const event_path = join(this.root, "event.json");
    writeFileSync(event_path, JSON.stringify(github.event));
    this.github = { ...github, job: job.id, token, workspace: this.workspace, event_path };
    this.runner = {
      name: "Hosted Agent",
      os: "Linux",
      arch: "X64",
      environment: "github-hosted",
      temp: this.temp,
      tool_cache: join(this.root, "tools"),
    };
    this.known = { ...known, github: this.github };
    this.env = { ...run.env, ...resolveTexts(job.env, { ...this.known, secrets: this.secrets }) };
    const defaults = {
      ...plain(run.workflow.defaults, run.known),
      ...plain(job.defaults, { ...this.known, env: this.env }),
    };
    this.shell = defaults.shell;
    this.folder = defaults["working-directory"];
    resolve(job["runs-on"], this.known);
  }

  /** All contexts of a step. */
  contexts(action, env) {
    const github = { ...this.github, action };
    return { ...this.known, github, runner: this.runner, job: { status: this.status }, steps: this.steps, env };
  }

  /** The outputs of the job. Empty ones and those with something masked are left out, as the runner does. */
  outputs() {
    const given = resolveTexts(this.declared.outputs, { ...this.contexts("", this.env), secrets: this.secrets });
    const kept = Object.entries(given).filter(([, value]) => value && this.run.masks.hide(value) === value);
    return Object.fromEntries(kept);
  }
}

function plain(defaults, known) {
  const run = resolve(defaults, known)?.run ?? {};
  return Object.fromEntries(Object.entries(run).map(([name, value]) => [name, value.coerceString()]));
}

const USUAL = { contents: "read", packages: "read" };

/** What a token may do: nothing beyond what is named, or what is usual where nothing is. */
function permissions(token) {
  if (token === undefined) return USUAL;
  const given = resolve(token, {});
  if (given.kind === undefined)
    return Object.fromEntries(Object.entries(given).map(([scope, access]) => [scope, access.coerceString()]));
  const access = given.coerceString().replace("-all", "");
  return { actions: access, contents: access };
}
