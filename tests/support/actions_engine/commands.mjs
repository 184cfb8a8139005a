// Lines of a step's output that are commands to the runner, and masks.
import { NotSimulated } from "./values.mjs";

const ANNOTATIONS = ["error", "warning", "notice"];
const WITHOUT_EFFECT = ["debug", "group", "endgroup", "echo", "save-state"];
const NOT_SIMULATED = ["add-matcher", "remove-matcher"];
const DISABLED = ["set-env", "add-path"];

const UNESCAPED = { "%25": "%", "%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": "," };
const unescaped = (text) => text.replace(/%(25|0D|0A|3A|2C)/gi, (code) => UNESCAPED[code.toUpperCase()]);

/** What must not be shown. Each line of a value is one. */
export class Masks {
  #values = new Set();

  add(value) {
    for (const line of [value, ...value.split(/\r?\n/)]) if (line.trim()) this.#values.add(line);
  }

  hide(text) {
    const longestFirst = [...this.#values].sort((a, b) => b.length - a.length);
    return longestFirst.reduce((shown, value) => shown.replaceAll(value, "***"), text);
  }
}

/**
 * What a step has said, as the log shows it, and what its commands ask for: `annotations`, `outputs`, and `failed` if
 * one of them is an error. Masks take effect from their line on.
 */
export function readOutput(said, masks) {
  const result = { log: "", annotations: [], outputs: {}, failed: false };
  let token; // ends what `stop-commands` began
  for (const line of said.split("\n")) {
    const command = parsed(line);
    if (token !== undefined) {
      if (command?.name === token) token = undefined;
    } else if (command?.name === "stop-commands") token = command.data.toLowerCase();
    else if (command) obey(command, masks, result);
    if (command?.name !== "add-mask" || token !== undefined) result.log += `${masks.hide(line)}\n`;
  }
  result.log = result.log.slice(0, -1);
  return result;
}

function parsed(line) {
  const match =
    /^\s*::([^\s:]+)(?:\s+(.*?))?::(.*)$/s.exec(line) ?? /##\[([^\s\]]+)(?:\s+([^\]]*))?\](.*)$/s.exec(line);
  if (!match) return undefined;
  const [, name, given = "", rest] = match;
  const pairs = given.split(/[,;]/).filter((pair) => pair.includes("="));
  const properties = pairs.map((pair) => [
    pair.slice(0, pair.indexOf("=")).trim(),
    unescaped(pair.slice(pair.indexOf("=") + 1)),
  ]);
  return {
    name: name.toLowerCase(),
    properties: Object.fromEntries(properties),
    data: unescaped(rest.replace(/\r$/, "")),
  };
}

function obey({ name, properties, data }, masks, result) {
  if (NOT_SIMULATED.includes(name)) throw new NotSimulated(`not simulated: the command ::${name}::`);
  if (ANNOTATIONS.includes(name))
    result.annotations.push({ level: name, title: properties.title ?? "", message: masks.hide(data) });
  else if (name === "add-mask") masks.add(data);
  else if (name === "set-output") result.outputs[properties.name] = data;
  else if (DISABLED.includes(name)) result.failed = true;
  else if (!WITHOUT_EFFECT.includes(name)) return; // no command of the runner, so a line like any other
}
