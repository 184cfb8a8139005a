// Steps of a workflow whose steps a table answers. The shells that rdc writes around a step are done here, and so is a
// step; what else a step runs is run by bash, which starts no process for the step of a loop.
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

// What a step ends with: its name and its file, as words of a shell. Its command may stand in a variable.
const CALL = /(?:^|\n)set -- (\S.*); \. "\$YARDSTICK\/visit"\n?$/;
const BY_VARIABLE = /^(?:bash|sh) -c "\$RDC_COMMAND"\n?$/;

/** A step shows its prompt first, which is no part of the flow. */
export const PROMPT = /^printf '%s\\n' "\$RDC_PROMPT" \| sed 's\/\^\/\| \/'\n/;

// The shells of backends/github/prompts.py, by what they run a script with, and what each does around it.
const AROUND = [
  [
    /^bash -c "(bash|sh) \\"\$0\\"; code=\$\?; echo \\"\$GITHUB_ACTION 1 \$code \$SECONDS\\" >> \\"\$RUNNER_TEMP\/rdc-journal\\"; exit \$code" \{0\}$/,
    noted,
  ],
  [/^bash -c "\\"\$RUNNER_TEMP\/rdc\/run\\" (bash|sh) \\"\$0\\"" \{0\}$/, kept],
  [/^(bash|sh) \{0\}$/, (_env, run) => run()],
  [/^bash -c "\\"\$RUNNER_TEMP\/rdc\/watched\\" (bash) \\"\$0\\"" \{0\}$/, (_env, run) => run()],
];

// Functions that bash has from its environment: commands that a script has in a text are run by this bash itself.
const STAND_IN = (shell) => `() { if [ "$1" = -c ]; then eval "$2"; else command ${shell} "$@"; fi; }`;
const STAND_INS = {
  "BASH_FUNC_bash%%": STAND_IN("bash"),
  "BASH_FUNC_sh%%": STAND_IN("sh"),
  "BASH_FUNC_env%%": '() { while [[ $1 == -- || $1 == *=* ]]; do shift; done; "$@"; }',
};

/** The step and the file of the visit that a script ends with; undefined where it is no step. */
export function callOf(script, env) {
  const [, words] = CALL.exec(BY_VARIABLE.test(script.replace(PROMPT, "")) ? (env.RDC_COMMAND ?? "") : script) ?? [];
  return words && unquoted(words);
}

/**
 * Run a step by the table in the folder `$YARDSTICK`, whose `script` has the outcomes in order. `run` is `runScript`;
 * a step with a shell that is not known here is left to it.
 */
export async function answered(task, run) {
  const { script, shell, folder, env } = task;
  const words = callOf(script, env);
  for (const [pattern, around] of AROUND) {
    const [, interpreter] = pattern.exec(shell) ?? [];
    if (!interpreter) continue;
    if (words !== undefined) return around(env, async () => ({ code: visit(words, folder, env), said: "" }));
    return around(env, () => run({ ...task, shell: `${interpreter} {0}`, env: { ...env, ...STAND_INS } }));
  }
  return run({ ...task, env: { ...env, ...STAND_INS } });
}

/** What `visit` of tests/equivalence/execution.py does: it logs the visit, and ends with the outcome that is next. */
function visit([node, file], folder, env) {
  const log = join(env.YARDSTICK, "log");
  const number = readFileSync(log, "utf8").split("\n").length - 1;
  const trail = join(folder, "trail");
  appendFileSync(trail, "\n");
  const { RDC_ATTEMPT: attempt, RDC_STEP_INSTANCE: step, RDC_SUBSTEP_INSTANCE: substep, RDC_RUN_ID: run } = env;
  const facts = [attempt, step, substep].map((fact) => fact || "-");
  const line = [file, node, ...facts, "-", statSync(trail).size, `${run || "-"} ${env.LEAK ?? ""}`];
  appendFileSync(log, `${line.join("\t")}\n`);
  return readFileSync(join(env.YARDSTICK, "script"), "utf8").split("\n")[number] === "pass" ? 0 : 1;
}

/** What the shell of a workflow that never waits does after a step. */
async function noted(env, run) {
  const done = await run();
  appendFileSync(join(env.RUNNER_TEMP, "rdc-journal"), `${env.GITHUB_ACTION} 1 ${done.code} 0\n`);
  return done;
}

const KEPT = { output: "GITHUB_OUTPUT", env: "GITHUB_ENV", path: "GITHUB_PATH" };

/** What `rdc/run` does around a step: one that was finished before the run had to wait has its result once more. */
async function kept(env, run) {
  const folder = join(env.RUNNER_TEMP, "rdc", "steps", env.GITHUB_ACTION);
  const files = Object.entries(KEPT).map(([name, variable]) => [join(folder, name), env[variable]]);
  if (existsSync(join(folder, "code"))) {
    for (const [file, told] of files) appendFileSync(told, readFileSync(file));
    return { code: Number(readFileSync(join(folder, "code"), "utf8")), said: "" };
  }
  mkdirSync(folder, { recursive: true });
  const done = await run();
  if (existsSync(join(env.RUNNER_TEMP, "rdc", "waiting"))) {
    rmdirSync(folder);
    return done;
  }
  const journal = join(env.RUNNER_TEMP, "rdc-journal");
  const noted = existsSync(journal) ? readFileSync(journal, "utf8").split("\n") : undefined; // none without a summary
  const isNoted = !noted || noted.some((line) => line.startsWith(`${env.GITHUB_ACTION} `));
  if (!isNoted) appendFileSync(journal, `${env.GITHUB_ACTION} 1 ${done.code} 0\n`);
  for (const [file, told] of files) copyFileSync(told, file);
  writeFileSync(join(folder, "code"), `${done.code}\n`);
  return done;
}

/** Words as Python's `shlex.quote` writes them. */
function unquoted(words) {
  const written = words.match(/(?:'[^']*'|"'"|[^\s'"])+/g);
  return written.map((word) => word.replace(/'([^']*)'|"(')"/g, "$1$2"));
}
