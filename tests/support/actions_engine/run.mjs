// A run of a workflow: its jobs one after the other, as their `needs` and conditions say.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Numbers } from "./actions.mjs";
import { Api, describeReview, describeRun, environmentOf, readRecord } from "./api.mjs";
import { Masks } from "./commands.mjs";
import { givenInputs, githubContext } from "./contexts.mjs";
import { runJob } from "./job.mjs";
import { parse, resolve, resolveText, resolveTexts } from "./parse.mjs";
import { evaluate, isTrue, NotSimulated } from "./values.mjs";

const DECISIONS = ["approved", "late", "bypassed", "rejected", "refused"];
const api = new Api();
let removed = Promise.resolve();

/** Settles as soon as nothing of the runs so far is left in the folder for temporary files. */
export const tidied = () => removed;

/** Walk through a workflow as a request says (`engine/__init__.py` describes it); gives what became of it. */
export async function walk(request) {
  const workflow = await parse(request.workflow);
  const base = mkdtempSync(join(tmpdir(), "engine-"));
  try {
    return await new Run(request, workflow, base).walk();
  } finally {
    removed = Promise.all([removed, rm(base, { recursive: true, force: true })]); // nobody waits for it
  }
}

class Run {
  tokens = new Map(); // the permissions of each job, by its token
  results = {}; // of jobs
  approvals = [];
  status = "in_progress";
  conclusion = null;
  isCancelled = false;
  before = {}; // the jobs of the attempt before, where only those that failed are run again
  again = new Set();

  constructor(request, workflow, base) {
    Object.assign(this, { request, workflow, base, masks: new Masks() });
    for (const secret of Object.values(request.secrets)) this.masks.add(secret);
    this.decisions = Object.fromEntries(Object.entries(request.environments).map(([name, all]) => [name, [...all]]));
    this.environments = Object.fromEntries(Object.keys(request.environments).map((name) => [name, true]));
    for (const name of request.unprotected) this.environments[name] = false;
    this.numbers = new Numbers(join(request.history, "artifacts"));
    this.inputs = givenInputs(workflow.events, request);
  }

  async walk() {
    const { request, workflow, environments } = this;
    const { history, failing } = request;
    const may = (token, scope, levels = ["read", "write"]) => levels.includes(this.tokens.get(token)?.[scope]);
    const unknown = [];
    const { repository } = request.github;
    const url = await api.serve({ history, repository, may, unknown, environments, failing });
    if (request.rerun) this.goOn(readRecord(history, request.github.run_id));
    this.github = githubContext(this.request, workflow, url);
    this.may = may;
    this.known = { github: this.github, inputs: this.inputs, vars: request.vars };
    const concurrency = resolve(workflow.concurrency, this.known);
    this.env = resolveTexts(workflow.env, { ...this.known, secrets: request.secrets });
    this.record();
    for (const job of this.inOrder()) this.results[job.id] = await this.job(job);
    if (unknown.length) throw new NotSimulated(`not simulated: the API for ${unknown.join(", ")}`);
    this.status = "completed";
    this.conclusion = this.result();
    this.record();
    writeFileSync(this.kept(), JSON.stringify(this.results));
    return {
      conclusion: this.conclusion,
      jobs: this.results,
      concurrency: (concurrency?.group ?? concurrency)?.coerceString() ?? "",
    };
  }

  /** A further attempt of a run: what people have decided in the ones before still stands. */
  goOn({ run, approvals }) {
    const run_attempt = String(run.run_attempt + 1);
    this.request = { ...this.request, github: { run_attempt, ...this.request.github } };
    this.approvals = approvals;
    this.before = JSON.parse(readFileSync(this.kept(), "utf8"));
  }

  /** The jobs such that each comes after those that it needs, otherwise as they are written. */
  *inOrder() {
    const left = [...this.workflow.jobs];
    while (left.length) {
      const next = left.findIndex((job) => job.needs.every((need) => need in this.results));
      if (next < 0) throw new Error(`these jobs need each other: ${left.map((job) => job.id).join(", ")}`);
      yield left.splice(next, 1)[0];
    }
  }

  async job(job) {
    const needs = Object.fromEntries(
      job.needs.map((id) => [id, { result: this.results[id].result, outputs: this.results[id].outputs }]),
    );
    const known = { ...this.known, needs };
    if (this.isKept(job)) return this.before[job.id];
    this.again.add(job.id);
    if (!isTrue(evaluate(job.condition, known, this.statusFunctions(job)))) return ended("skipped");
    const rows = matrixOf(job, known);
    if (!rows) return this.single(job, { ...known, strategy: strategy(0, 1), matrix: null });
    const jobs = [];
    for (const [index, matrix] of rows.entries()) {
      const before = this.before[job.id]?.matrix?.[index];
      const place = `${job.id}-${index}`;
      const all = { ...known, strategy: strategy(index, rows.length), matrix };
      jobs.push(before?.result === "success" ? before : await this.single(job, all, place));
    }
    return together(jobs);
  }

  async single(job, all, place) {
    const environment = resolve(job.environment, all);
    const where = (environment?.name ?? environment)?.coerceString();
    const name = resolveText(job.name, all) ?? job.id;
    const refused = environment && this.refusal(job.id, where);
    if (refused) return { ...ended(refused), name };
    return runJob(this, job, all, name, place);
  }

  /** Whether a job is not run again: it needs none that is, and nobody has asked for it. */
  isKept(job) {
    const before = this.before[job.id];
    const { rerun } = this.request;
    const isAsked = rerun === true ? ["failure", "cancelled"].includes(before?.result) : [job.id, "all"].includes(rerun);
    return before && !isAsked && !job.needs.some((id) => this.again.has(id));
  }

  /** All ancestors count, not only the jobs that are named in `needs`. */
  statusFunctions(job) {
    const before = [...this.ancestors(job)].map((id) => this.results[id].result);
    return {
      success: () => truth(!this.isCancelled && before.every((result) => result === "success")),
      failure: () => truth(before.includes("failure")),
      cancelled: () => truth(this.isCancelled),
      always: () => truth(true),
    };
  }

  ancestors(job, found = new Set()) {
    for (const id of job.needs) {
      found.add(id);
      this.ancestors(
        this.workflow.jobs.find((other) => other.id === id),
        found,
      );
    }
    return found;
  }

  /** What becomes of a job that may not begin; undefined if it may: nobody protects the environment, or lets it in. */
  refusal(job, named) {
    const environment = environmentOf(named, this.environments) ?? named;
    this.environments[environment] ??= false; // GitHub makes what is not there
    if (!this.environments[environment]) return undefined;
    if (this.request.cancel === job) {
      this.isCancelled = true;
      return "cancelled";
    }
    const decision = this.decisions[environment].shift();
    if (!DECISIONS.includes(decision)) throw new Error(`nobody decides about ${environment} for the job ${job}`);
    if (decision === "late") rmSync(this.artifacts(this.github.run_id), { recursive: true, force: true });
    const state = { approved: "approved", late: "approved", rejected: "rejected" }[decision];
    if (state) this.approvals.push(describeReview(state, environment, this.github));
    this.record();
    return state === "approved" || decision === "bypassed" ? undefined : "failure";
  }

  result() {
    const results = Object.values(this.results).map((job) => job.result);
    if (this.isCancelled || results.includes("cancelled")) return "cancelled";
    return results.includes("failure") ? "failure" : "success";
  }

  /** Where the jobs of this run are kept for a further attempt. */
  kept() {
    return join(this.request.history, this.request.github.run_id, "jobs.json");
  }

  artifacts(id) {
    return join(this.request.history, String(id), "artifacts");
  }

  /** Keeps what the API tells about this run. */
  record() {
    const path = join(this.request.history, this.github.run_id, "run.json");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify({ run: describeRun(this), approvals: this.approvals }));
  }
}

const strategy = (index, total) => ({
  "fail-fast": total === 1,
  "job-index": index,
  "job-total": total,
  "max-parallel": total,
});

/** The rows of the matrix of a job, undefined where it has none. */
function matrixOf(job, known) {
  if (job.strategy === undefined) return undefined;
  const { matrix, "fail-fast": fast, ...rest } = resolve(job.strategy, known);
  const { include, ...axes } = matrix ?? {};
  if (!include?.length || Object.keys({ ...axes, ...rest }).length || !fast || isTrue(fast))
    throw new NotSimulated("not simulated: a matrix with more than `include`, or without `fail-fast: false`");
  return include;
}

/** The jobs of a matrix as one, as `needs` knows them. */
function together(jobs) {
  const results = jobs.map((job) => job.result);
  return {
    name: jobs.map((job) => job.name).join(", "),
    result: ["failure", "cancelled"].find((result) => results.includes(result)) ?? "success",
    outputs: Object.assign({}, ...jobs.map((job) => job.outputs)),
    steps: jobs.flatMap((job) => job.steps),
    log: jobs.map((job) => job.log).join(""),
    annotations: jobs.flatMap((job) => job.annotations),
    matrix: jobs,
  };
}

const ended = (result) => ({ result, outputs: {}, steps: [], log: "", annotations: [] });
const truth = (value) => evaluate(String(value), {});
