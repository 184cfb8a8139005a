// Scripts of steps, run by the shell that their `shell` names.
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NotSimulated } from "./values.mjs";

const BUILT_IN = {
  bash: "bash --noprofile --norc -e -o pipefail {0}",
  sh: "sh -e {0}",
  python: "python {0}",
};
const ELSEWHERE = ["pwsh", "powershell", "cmd"];
const UNSPECIFIED = "bash -e {0}";

/**
 * Run a script. Gives its exit code and what it has said.
 *
 * Standard input is empty, standard output and error are one file: what is left running in the background holds
 * nothing up. A shell that cannot be started counts as one that fails, as for the runner: its folder is gone, or its
 * environment is too large. After `patience` seconds all of it is killed, which is an error.
 */
export async function runScript({ script, shell, folder, env, temp, number, patience }) {
  const name = shell?.split(" ")[0];
  const file = join(temp, `script-${number}${{ bash: ".sh", sh: ".sh", python: ".py" }[name ?? "sh"] ?? ""}`);
  writeFileSync(file, script);
  const [command, ...words] = commandLine(shell, file);
  const output = join(temp, `said-${number}`);
  const descriptor = openSync(output, "w");
  try {
    const options = { cwd: folder, env, stdio: ["ignore", descriptor, descriptor], detached: true };
    const code = await finished(spawn(command, words, options), patience);
    return { code, said: readFileSync(output, "utf8") };
  } catch (error) {
    if (!error.syscall?.startsWith("spawn")) throw error;
    return { code: 1, said: `An error occurred trying to start process '${command}': ${error.code}\n` };
  } finally {
    closeSync(descriptor);
  }
}

function finished(child, patience) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      process.kill(-child.pid, "SIGKILL");
      reject(new Error(`a step still ran after ${patience} s`));
    }, patience * 1000);
    child.on("error", (error) => {
      clearTimeout(late);
      reject(error);
    });
    child.on("exit", (code) => {
      clearTimeout(late);
      resolve(code ?? 128); // a signal
    });
  });
}

/** The words of the command that runs a script file. */
export function commandLine(shell, file) {
  if (ELSEWHERE.includes(shell)) throw new NotSimulated(`not simulated: the shell ${shell}`);
  const template = shell ? (BUILT_IN[shell] ?? shell) : UNSPECIFIED;
  const space = template.indexOf(" ");
  const words = space < 0 ? "" : template.slice(space + 1);
  if (!words.includes("{0}")) throw new Error(`the shell \`${template}\` has no {0}`);
  return [template.slice(0, space), ...split(format(words, file))];
}

/** .NET's String.Format with one argument, by which the runner puts the file into the template. */
function format(template, argument) {
  return template.replace(/\{\{|\}\}|\{0\}|[{}]/g, (found) => {
    if (found === "{0}") return argument;
    if (found.length === 2) return found[0];
    throw new Error(`the shell \`${template}\` has a brace that .NET's String.Format does not take`);
  });
}

/** The words of a command line as .NET splits it: double quotes only, a backslash means something before one only. */
function split(line) {
  const words = [];
  let word;
  let quoted = false;
  for (const [part, backslashes] of line.matchAll(/(\\*)""?|\\+|[^\\"]/g)) {
    if (!part.endsWith('"')) {
      if (quoted || !/[ \t]/.test(part)) word = (word ?? "") + part;
      else if (word !== undefined) words.push(word);
      if (!quoted && /[ \t]/.test(part)) word = undefined;
      continue;
    }
    const isEscaped = backslashes.length % 2 === 1;
    const isDouble = part.endsWith('""');
    word = (word ?? "") + "\\".repeat(backslashes.length >> 1);
    if (isEscaped) word += '"';
    if (isDouble && quoted && !isEscaped) word += '"';
    else if (isDouble === isEscaped) quoted = !quoted; // one quote that is not escaped
  }
  return word === undefined ? words : [...words, word];
}
