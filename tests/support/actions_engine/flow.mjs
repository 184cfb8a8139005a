// Runs that show the flow of a workflow and nothing else: a table answers the steps, and rdc's own steps do nothing.
// Only what has a flow of its own, such as a loop, is run by bash. What a step is shows by what it says.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callOf, PROMPT } from "./table.mjs";
import { NotSimulated } from "./values.mjs";

const RESULT = "result";
const LOOPS = "Prepare the loops";
const FUNCTIONS = /<<'SCRIPT'\n([\s\S]*\n)SCRIPT\n?$/;
const OURS = ["Prepare", "Summary"];
const END =
  /^(?:echo|printf '%s\\n') (?<said>.*?)(?: \| tr .*)? >> "\$GITHUB_STEP_SUMMARY"(?<fails>\nexit 1)?\n?$/;
const ENDS = /^(COMPLETE|STOP)(: |$)/;

const ANSWER = /^"\$RUNNER_TEMP\/rdc\/answer" (?:PASS FAIL|YES NO)\n?$/;
const LOOP = /^while \[ -z "\$rdc_next" \]; do$/m;
const REPEATED =
  /^(?:IFS= read -rd '' rdc_command <<'(?<word>COMMAND_*)'\n(?<command>[\s\S]*)\n\k<word>|rdc_command=\$RDC_COMMAND)\nexport RDC_ATTEMPT\nfor \(\(RDC_ATTEMPT = 1; RDC_ATTEMPT <= (?<most>\d+); RDC_ATTEMPT\+\+\)\); do\n {2}echo "::group::Attempt \$RDC_ATTEMPT of \d+"\n(?: {2}SECONDS=0\n)? {2}(?:bash|sh) -c "\$\{rdc_command%\$'\\n'\}"\n {2}rdc_code=\$\?\n {2}printf '\\n::endgroup::\\nexit code %s\\n' "\$rdc_code"\n(?: {2}echo "\w+ \$RDC_ATTEMPT \$rdc_code \$SECONDS" >> "\$RUNNER_TEMP\/rdc-journal"\n)?(?: {2}\[ "\$rdc_code" -(?<when>eq|ne) 0 \] && (?:\[ "\$RDC_ATTEMPT" -gt (?<sooner>\d+) \] && )?break\n)?done\nexit "\$rdc_code"\n$/;

// Functions that bash has in place of programs: an answer is a visit too, and nothing is kept for another run.
const STAND_INS = (temp) => `
function ${temp}/rdc/answer {
  set -- "$STEP" '?'
  . "$YARDSTICK/visit" && return
  [ "$y_outcome" ] || return 75
  return 1
}
mkdir() { :; }
cp() { :; }
`;

/** A walk by a table: `outcomes` are those of all steps in order, `visit` is the file with the script of a visit. */
export class Flow {
  lines = []; // of visits, as `visit` of tests/equivalence/execution.py logs them
  end = ""; // the word and the message, as a step says them; "" where none does

  constructor({ outcomes, visit }, folder) {
    Object.assign(this, { outcomes, visit, folder });
  }

  /** The variables that scripts need for it. */
  get env() {
    return { YARDSTICK: this.folder, BASH_ENV: join(this.folder, "stand-ins") };
  }

  /** What a path has shown. */
  shown() {
    return { lines: this.lines, end: this.end };
  }

  /** Do what a step does, into `done`. `byShell` runs its script; `env` are the variables of the workflow. */
  async perform(step, { script = "", env, temp, byShell }, done) {
    done.outcome = "success";
    if (step.id === RESULT) return this.#lost(done);
    const end = ENDS.test(done.name) && END.exec(script)?.groups;
    if (end) return this.#conclude(end, env, done);
    if (done.name === LOOPS) return this.#share(script, temp);
    if (OURS.includes(done.name)) return undefined;
    const words = callOf(script, env);
    const repetition = REPEATED.exec(script.replace(PROMPT, ""))?.groups;
    const called = repetition && callOf(repetition.command ?? env.RDC_COMMAND, env);
    if (words) return this.#command(step.id, words, env, done);
    if (called) return this.#repeat(step.id, called, { env, repetition }, done);
    if (ANSWER.test(script)) return this.#prompt(step.id, env, done);
    if (LOOP.test(script) || repetition) return this.#run(step.id, temp, byShell);
    throw new NotSimulated(`not simulated: the step ${done.name} in a path by a table`);
  }

  #command(step, [node, file], env, done) {
    done.outcome = this.#visited(step, file, node, env) ? "success" : "failure";
  }

  #repeat(step, words, { env, repetition: { most, when, sooner = 0 } }, done) {
    for (let attempt = 1; attempt <= Number(most); attempt++) {
      this.#command(step, words, { ...env, RDC_ATTEMPT: attempt }, done);
      const isDue = when === { success: "eq", failure: "ne" }[done.outcome];
      if (isDue && attempt > Number(sooner)) return;
    }
  }

  #prompt(step, env, done) {
    const passed = this.#visited(step, "?", env.STEP, env);
    done.outcome = passed ? "success" : "failure";
    done.outputs.answer = passed ? "pass" : "fail";
  }

  #visited(step, file, node, env) {
    const passed = this.outcomes[this.lines.length] === "pass";
    const { RDC_ATTEMPT, RDC_STEP_INSTANCE, RDC_SUBSTEP_INSTANCE, RDC_RUN_ID, LEAK = "" } = env;
    const facts = [RDC_ATTEMPT, RDC_STEP_INSTANCE, RDC_SUBSTEP_INSTANCE].map((fact) => fact || "-");
    this.lines.push([file, node, ...facts, "-", 0, `${RDC_RUN_ID || "-"} ${LEAK}`].join("\t"));
    return passed;
  }

  /** Run a script by bash, which goes on with the table where this walk stands. */
  async #run(id, temp, byShell) {
    const log = join(this.folder, "log");
    if (!existsSync(this.folder)) this.#prepare(temp);
    mkdirSync(join(temp, "rdc", "steps", id), { recursive: true });
    writeFileSync(log, asLines(this.lines));
    await byShell();
    this.lines = linesOf(log);
  }

  #prepare(temp) {
    mkdirSync(this.folder);
    writeFileSync(join(this.folder, "script"), asLines(this.outcomes));
    symlinkSync(this.visit, join(this.folder, "visit"));
    writeFileSync(join(this.folder, "stand-ins"), STAND_INS(temp));
  }

  /** What templates/loop.sh.jinja does: the functions of the loops go to a file. */
  #share(script, temp) {
    mkdirSync(join(temp, "rdc"), { recursive: true });
    writeFileSync(join(temp, "rdc", "loop"), FUNCTIONS.exec(script)[1]);
  }

  /** What the step of an end does: it writes the end to the summary, as Markdown if no value is in it, and fails. */
  #conclude({ said, fails }, env, done) {
    const [, single, double, plain] = /^(?:'(.*)'|"(.*)"|(.*))$/.exec(said);
    const text = single?.replaceAll(`'"'"'`, "'") ?? double?.replace(/\\([\\"$`])/g, "$1") ?? plain;
    const shown = text.replace("$MESSAGE", () => env.MESSAGE);
    this.end = (shown === text ? text.replace(/\\(.)/g, "$1") : shown).replace(/^### /, "");
    if (fails) done.outcome = "failure";
  }

  /** What templates/wait.sh.jinja does here, where all answers are known: no end was reached. */
  #lost(done) {
    this.end = "no end";
    done.outcome = "failure";
  }
}

const asLines = (lines) => lines.map((line) => `${line}\n`).join("");
const linesOf = (file) => readFileSync(file, "utf8").split("\n").slice(0, -1);
