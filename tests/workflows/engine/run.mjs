// A run of a workflow: its jobs one after the other, as their `needs` and conditions say.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Api, describeReview, describeRun } from "./api.mjs";
import { Masks } from "./commands.mjs";
import { givenInputs, githubContext } from "./contexts.mjs";
import { Flow } from "./flow.mjs";
import { runJob } from "./job.mjs";
import { parse, resolve, resolveText, resolveTexts } from "./parse.mjs";
import { evaluate, isTrue, NotSimulated } from "./values.mjs";

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

  constructor(request, workflow, base) {
    Object.assign(this, { request, workflow, base, masks: new Masks() });
    for (const secret of Object.values(request.secrets)) this.masks.add(secret);
    this.decisions = Object.fromEntries(Object.entries(request.environments).map(([name, all]) => [name, [...all]]));
    this.inputs = givenInputs(workflow.events, request);
    if (request.flow) this.followFlow(join(base, "yardstick"));
  }

  /** Only the flow counts: `flow.mjs` says what that leaves. */
  followFlow(folder) {
    this.flow = new Flow(this.request.flow, folder);
    this.request = { ...this.request, byTable: true, env: { ...this.request.env, ...this.flow.env } };
  }

  async walk() {
    const { request, workflow } = this;
    const may = (token, scope) => ["read", "write"].includes(this.tokens.get(token)?.[scope]);
    const unknown = [];
    const url = await api.serve({ history: request.history, repository: request.github.repository, may, unknown });
    this.github = githubContext(request, workflow, url);
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
    return {
      conclusion: this.conclusion,
      jobs: this.results,
      flow: this.flow?.shown(),
      concurrency: (concurrency?.group ?? concurrency)?.coerceString() ?? "",
    };
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
    if (!isTrue(evaluate(job.condition, known, this.statusFunctions(job)))) return ended("skipped");
    const all = {
      ...known,
      strategy: { "fail-fast": true, "job-index": 0, "job-total": 1, "max-parallel": 1 },
      matrix: null,
    };
    const environment = resolve(job.environment, all);
    const name = (environment?.name ?? environment)?.coerceString();
    if (name && !this.isLetIn(job.id, name)) return ended("failure");
    return runJob(this, job, all, resolveText(job.name, all) ?? job.id);
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

  /** Whether a job may begin: somebody has approved it, or nobody protects its environment. */
  isLetIn(job, environment) {
    if (!(environment in this.decisions)) return true;
    const decision = this.decisions[environment].shift();
    if (decision === undefined) throw new Error(`nobody decides about ${environment} for the job ${job}`);
    if (decision !== "refused") this.approvals.push(describeReview(decision, environment, this.github));
    this.record();
    return decision === "approved";
  }

  result() {
    const results = Object.values(this.results).map((job) => job.result);
    if (this.isCancelled) return "cancelled";
    return results.includes("failure") ? "failure" : "success";
  }

  artifacts(id) {
    return join(this.request.history, String(id), "artifacts");
  }

  /** Keeps what the API tells about this run. */
  record() {
    if (this.flow) return;
    const path = join(this.request.history, this.github.run_id, "run.json");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify({ run: describeRun(this), approvals: this.approvals }));
  }
}

const ended = (result) => ({ result, outputs: {}, steps: [], log: "", annotations: [] });
const truth = (value) => evaluate(String(value), {});
