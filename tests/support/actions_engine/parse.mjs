// A workflow as GitHub's own parser reads it.
import {
  convertWorkflowTemplate,
  isBasicExpression,
  isMapping,
  isSequence,
  NoOperationTraceWriter,
  parseWorkflow,
} from "@actions/workflow-parser";
import { YamlObjectReader } from "@actions/workflow-parser/workflows/yaml-object-reader";
import { asData, evaluate, NotSimulated } from "./values.mjs";

// The package serves editors: in texts of several lines it looks for expressions in the source, with its indentation,
// to know their columns. A run takes them from the value, as the parser does where it has no source.
const literal = YamlObjectReader.getLiteralToken;
YamlObjectReader.getLiteralToken = (...given) => Object.assign(literal(...given), { source: undefined });

const WORKFLOW = ["name", "run-name", "on", "permissions", "env", "defaults", "concurrency", "jobs"];
const JOB = [
  "name",
  "needs",
  "if",
  "runs-on",
  "environment",
  "timeout-minutes",
  "permissions",
  "outputs",
  "env",
  "defaults",
  "steps",
  "concurrency",
  "strategy",
];
const STEP = [
  "id",
  "name",
  "if",
  "continue-on-error",
  "uses",
  "with",
  "shell",
  "env",
  "run",
  "working-directory",
  "timeout-minutes",
];

/** What GitHub's parser complains about, in lines; a workflow without errors gives none. */
export async function complaints(content) {
  return (await read(content)).errors;
}

let latest; // a run that waits and those that go on with it have the same workflow

/**
 * A workflow: `events` as GitHub's model has them, keys by name, and `jobs` in document order, each with `steps`.
 * The fields of jobs and steps are tokens, to be resolved when their turn comes; `condition` is the text of the `if`
 * with the status function that GitHub adds.
 */
export async function parse(content) {
  if (latest?.content !== content) latest = { content, workflow: await readWorkflow(content) };
  return latest.workflow;
}

async function readWorkflow(content) {
  const { errors, root, model } = await read(content);
  if (errors.length) throw new Error(`GitHub's parser refuses the workflow: ${errors.join("; ")}`);
  const fields = fieldsOf(root, WORKFLOW, "a workflow");
  const jobs = model.jobs.map((job, index) => readJob(job, fields.jobs.get(index).value));
  return { ...fields, events: model.events, jobs };
}

async function read(content) {
  const parsed = parseWorkflow({ name: "workflow.yml", content }, new NoOperationTraceWriter());
  const model = parsed.value && (await convertWorkflowTemplate(parsed.context, parsed.value));
  return { errors: parsed.context.errors.getErrors().map((error) => error.message), root: parsed.value, model };
}

function readJob(job, token) {
  const fields = fieldsOf(token, JOB, `the job ${job.id.value}`);
  const steps = job.steps.map((step, index) => readStep(step, fields.steps.get(index)));
  return { ...fields, id: job.id.value, condition: job.if.expression, needs: (job.needs ?? []).map(String), steps };
}

function readStep(step, token) {
  const fields = fieldsOf(token, STEP, "a step");
  return { ...fields, action: step.id, id: fields.id && String(fields.id), condition: step.if.expression };
}

function fieldsOf(token, known, where) {
  const fields = {};
  for (const { key, value } of token) {
    if (!known.includes(String(key))) throw new NotSimulated(`not simulated: \`${key}\` of ${where}`);
    fields[String(key)] = value;
  }
  return fields;
}

/** A token with its expressions evaluated, as data; undefined stays. Mappings and sequences become plain objects. */
export function resolve(token, contexts, functions) {
  if (token === undefined) return undefined;
  if (isBasicExpression(token)) return evaluate(token.expression, contexts, functions);
  if (isSequence(token)) return Array.from(token, (item) => resolve(item, contexts, functions));
  if (!isMapping(token)) return asData(token.value);
  const resolved = {};
  for (const { key, value } of token) {
    if (key.isExpression) throw new NotSimulated("not simulated: an expression as a key");
    resolved[String(key)] = resolve(value, contexts, functions);
  }
  return resolved;
}

/** The same for a mapping of texts; empty where there is none. */
export function resolveTexts(token, contexts, functions) {
  const resolved = Object.entries(resolve(token, contexts, functions) ?? {});
  return Object.fromEntries(resolved.map(([name, value]) => [name, value.coerceString()]));
}

/** The same for one text; undefined stays. */
export function resolveText(token, contexts, functions) {
  return resolve(token, contexts, functions)?.coerceString();
}
