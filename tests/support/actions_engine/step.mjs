// A step: whether it runs, what it does, and what the job knows afterwards.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { runAction } from "./actions.mjs";
import { readOutput } from "./commands.mjs";
import { asVariables } from "./contexts.mjs";
import { freshFiles, readFolders, readPairs, readSummary } from "./files.mjs";
import { resolve, resolveText, resolveTexts } from "./parse.mjs";
import { runScript } from "./shell.mjs";
import { asEnvironment, evaluate, isTrue, NotSimulated } from "./values.mjs";

/** Run a step of a job, unless its condition says that it is skipped. */
export async function runStep(job, step, number) {
  const before = job.contexts(step.action, asEnvironment(job.env));
  const own = resolveTexts(step.env, { ...before, secrets: job.secrets });
  const contexts = { ...before, env: asEnvironment({ ...job.env, ...own }) };
  const done = {
    id: step.id ?? step.action,
    name: "",
    outcome: "skipped",
    conclusion: "skipped",
    outputs: {},
    summary: "",
  };
  done.name = resolveText(step.name, contexts, statusFunctions(job)) ?? done.id;
  if (!isTrue(evaluate(step.condition, contexts, statusFunctions(job)))) return done;
  const all = { ...contexts, secrets: job.secrets };
  if (step.uses) act(job, step, all, done);
  else await execute(job, step, { all, own, number }, done);
  if (job.run.request.cancel === `${job.id}/${done.id}`) cancel(job, done);
  else if (job.run.request.expire === `${job.id}/${done.id}`) stop(job, done);
  else done.conclusion = done.outcome === "failure" && isTolerated(step, contexts) ? "success" : done.outcome;
  return done;
}

function act(job, step, contexts, done) {
  const inputs = resolveTexts(step.with, contexts);
  const { run } = job;
  const place = {
    repository: run.request.repository,
    workspace: job.workspace,
    artifacts: (id) => run.artifacts(id),
    run: job.github.run_id,
    name: job.github.repository,
    may: run.may,
    numbers: run.numbers,
    meddle: () => meddle(job),
  };
  const { outputs, failed } = runAction(String(step.uses), inputs, place);
  Object.assign(done, { outputs, outcome: failed ? "failure" : "success" });
  if (failed) tell(job, { level: "error", title: "", message: failed });
}

/** What a process of an earlier step does now, if a test wants one. */
function meddle(job) {
  const { env, meddler } = job.run.request;
  if (meddler) execFileSync("python3", ["-I", meddler], { env: { ...env, RUNNER_TEMP: job.temp } });
}

async function execute(job, step, { all, own, number }, done) {
  const files = freshFiles(job.temp, number);
  const task = {
    script: resolveText(step.run, all),
    shell: resolveText(step.shell, all) ?? job.shell,
    folder: join(job.workspace, resolveText(step["working-directory"], all) ?? job.folder ?? ""),
    env: environment(job, step, own, files),
  };
  const { code, said } = await runScript({ ...task, temp: job.temp, number, patience: job.run.request.patience });
  const output = readOutput(said, job.run.masks);
  job.log += output.log;
  job.annotations.push(...output.annotations);
  done.outcome = code === 0 && !output.failed ? "success" : "failure";
  if (code !== 0) tell(job, { level: "error", title: "", message: `Process completed with exit code ${code}.` });
  Object.assign(done.outputs, output.outputs);
  takeOver(job, files, done);
}

function environment(job, step, own, files) {
  const { request } = job.run;
  const paths = Object.fromEntries(Object.entries(files).map(([kind, file]) => [`GITHUB_${kind.toUpperCase()}`, file]));
  const variables = {
    CI: "true",
    GITHUB_ACTIONS: "true",
    ...asVariables({ ...job.github, action: step.action }, job.runner),
  };
  const env = { ...request.env, HOME: job.home, ...job.env, ...own, ...variables, ...paths };
  return { ...env, PATH: [...job.path, env.PATH].join(":") };
}

/** What a step has told by its files; a file that cannot be read fails the step, and the others count all the same. */
function takeOver(job, files, done) {
  const take = (read) => {
    try {
      read();
    } catch (error) {
      if (error instanceof NotSimulated) throw error;
      tell(job, { level: "error", title: "", message: error.message });
      done.outcome = "failure";
    }
  };
  take(() => Object.assign(done.outputs, Object.fromEntries(readPairs(files.output))));
  take(() => readPairs(files.env).forEach(([name, value]) => setVariable(job, name, value)));
  for (const folder of readFolders(files.path)) job.path = [folder, ...job.path.filter((other) => other !== folder)];
  done.summary = job.run.masks.hide(readSummary(files.step_summary));
}

function setVariable(job, name, value) {
  if (name.toUpperCase() === "NODE_OPTIONS")
    throw new Error("Can't store NODE_OPTIONS output parameter using '$GITHUB_ENV' command.");
  job.env = { ...job.env, [name]: value };
}

function tell(job, annotation) {
  job.annotations.push(annotation);
  job.log += `Error: ${job.run.masks.hide(annotation.message)}\n`;
}

function isTolerated(step, contexts) {
  const value = resolve(step["continue-on-error"], contexts);
  return value !== undefined && isTrue(value);
}

/** Somebody cancels the run while the step goes on. */
function cancel(job, done) {
  stop(job, done);
  job.run.isCancelled = true;
}

/** The job ends while the step goes on; that its time is over does not cancel the run. */
function stop(job, done) {
  Object.assign(done, { outcome: "cancelled", conclusion: "cancelled" });
  job.status = "cancelled";
}

function statusFunctions(job) {
  const truth = (value) => () => evaluate(String(value), {});
  return {
    success: truth(job.status === "success"),
    failure: truth(job.status === "failure"),
    cancelled: truth(job.status === "cancelled"),
    always: truth(true),
    hashfiles: () => {
      throw new NotSimulated("not simulated: hashFiles");
    },
  };
}
