"""Inputs: values that are given when a run begins (I8)."""

import json
import re
import select
import sys
import termios
import types
from contextlib import suppress
from typing import Any, Optional

from runtime_shim.data.fitting import unfit
from runtime_shim.data.shared import read_json
from runtime_shim.engine.display import Display
from runtime_shim.engine.lifecycle import Extension
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.signals import Interrupted
from runtime_shim.engine.texts import one_line
from runtime_shim.engine.walk import Registers
from runtime_shim.tasks.answers import LARGEST_INPUT, read_text

LINE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*):(?:[ \t]+(.*?))?[ \t]*")
PLAIN = re.compile(r"[^\s\[\]{}&*!|>'\"%@`#,?:-].*|[?:-]\S.*")
TASK = "task"  # the input that `--task` and `--task-file` give (W15)
MOST_PASTED = 100  # times that what is left of a paste is thrown away
NOTHING = ("", "~", "null", "Null", "NULL")


def _from_file(path: str) -> dict[str, str]:
    """Read a file of inputs: a JSON object, or lines `NAME: value`."""
    text = read_text(path)
    if not text.lstrip().startswith(("{", "[")):
        return _from_lines(path, text)
    found = read_json(path, text)
    if not isinstance(found, dict):
        raise RefusedError(f"{path}: expected a JSON object with a value for each input")
    return {name: _as_value(path, name, value) for name, value in found.items()}


def _as_value(path: str, name: str, value: Any) -> str:  # noqa: ANN401 (any JSON value)
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    raise RefusedError(f"{path}: {name}: expected a string, a number, true or false")


def _from_lines(path: str, text: str) -> dict[str, str]:
    """Read the simplest form of YAML, of which nothing can be taken for anything else."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#") or (number == 1 and line.rstrip() == "---"):
            continue
        pair = LINE.fullmatch(line)
        value = _scalar(pair[2] or "") if pair else None
        if pair is None or value is None:
            raise RefusedError(f"{path}:{number}: expected NAME: value, on one line; use JSON for all else")
        if pair[1] in found:
            raise RefusedError(f"{path}:{number}: {pair[1]} stands here a second time")
        found[pair[1]] = value
    return found


def _scalar(written: str) -> Optional[str]:
    """Return the text of a plain or quoted scalar of YAML; None for what may be more than that."""
    if single := re.fullmatch(r"'((?:[^']|'')*)'", written):
        return single[1].replace("''", "'")
    if written.startswith('"'):
        with suppress(ValueError):  # what JSON reads, YAML reads alike
            value = json.loads(written)
            return value if isinstance(value, str) else None
        return None
    is_plain = PLAIN.fullmatch(written) and not re.search(r":\s|:$|\s#", written) and written not in NOTHING
    return written if is_plain else None


def _from_words(declared: dict[str, Table], words: list[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise RefusedError(f"--input {word}: expected NAME=VALUE or NAME=@FILE")
        if value.startswith("@"):
            value = read_text(value[1:])
            if declared.get(name, {}).get("type") != "text":
                value = value.removesuffix("\n").removesuffix("\r")
        given[name] = value
    return given


def check_inputs(program: Table, options: types.SimpleNamespace) -> Registers:
    """Return the values of all inputs, or refuse them, every unfit one at once."""
    declared: dict[str, Table] = {item["name"]: item for item in program["inputs"]}
    given = {**(_from_file(options.inputs) if options.inputs else {}), **_from_words(declared, options.input)}
    given.update(_task(options) if TASK in declared else {})
    wrong = [f"{name}: there is no such input; known: {', '.join(declared)}" for name in given if name not in declared]
    if not wrong and any(name not in given and _problem(item, item.get("default")) for name, item in declared.items()):
        given.update(_typed([item for name, item in declared.items() if name not in given]))
    found: Registers = {}
    for name, item in declared.items():
        found[name] = given.get(name, item.get("default"))
        problem = _problem(item, found[name])
        if problem:
            wrong.append(f"input {name}: {problem}; give it by --input {name}=VALUE")
    if wrong:
        raise RefusedError(*wrong)
    return found


def _problem(item: Table, value: Optional[str]) -> str:
    """Return what is wrong with the value of an input, "" if nothing is."""
    if value is None:
        return "a value is needed" if item["required"] else ""
    if any("\ud800" <= character <= "\udfff" for character in value):
        return "its value is not UTF-8"
    if len(value.encode()) > LARGEST_INPUT:
        return f"its value is longer than {LARGEST_INPUT:,} bytes"
    return unfit(value, item["type"], item.get("options", ()), item.get("pattern"))


def _typed(items: list[Table]) -> dict[str, str]:
    """Ask the person at the terminal, if there is one, for inputs."""
    display = Display(sys.stderr)
    if not (display.is_terminal and sys.stdin.isatty()):
        return {}
    try:
        return _asked_one_by_one(items, display)
    except KeyboardInterrupt:
        display.line()
        raise Interrupted from None
    finally:  # the rest of what was pasted must not reach a command or the shell
        with suppress(OSError, ValueError, termios.error):
            for _ in range(MOST_PASTED):
                if not _more_comes():
                    break
                termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _asked_one_by_one(items: list[Table], display: Display) -> dict[str, str]:
    """Ask for inputs; an empty line takes the default."""
    given: dict[str, str] = {}
    for item in items:
        name, options, default = item["name"], item.get("options", ()), item.get("default")
        display.line(one_line(f"{name}: {item.get('description', '')}").rstrip(": "))
        about = [f"one of {', '.join(options)}"] if options else []
        is_long = item["type"] == "text"
        about += ["several lines; end with an empty line"] if is_long else []
        about += [f"default {default}"] if default is not None else [] if item["required"] else ["may be empty"]
        prompt = f"{name} ({one_line('; '.join(about))}): " if about else f"{name}: "
        problem = "?"
        while problem:
            display.line(prompt, end="")
            value = _entered(display, is_long)
            if value is None:
                return given
            if not value and (default is not None or not item["required"]):
                break
            problem = _problem(item, value) if value else "a value is needed"
            if problem:
                display.line(one_line(problem))
            else:
                given[name] = value
    return given


def _entered(display: Display, is_long: bool) -> Optional[str]:
    """Return a line that a person types, or the lines up to an empty one; None if nothing more comes.

    An empty line within a text that is pasted does not end it: more of the text is there already.
    """
    lines: list[str] = []
    while True:
        line = sys.stdin.buffer.readline().decode(errors="surrogateescape")
        text = line.rstrip("\r\n")
        if not line:
            display.line()
        elif not is_long:
            return text
        if not line or not (text or _more_comes()):
            return "\n".join(lines).rstrip("\n") if line or lines else None
        lines.append(text)


def _more_comes() -> bool:
    """Tell whether more was typed or pasted that nobody has read."""
    return bool(select.select([sys.stdin], [], [], 0.1)[0])


def _task(options: types.SimpleNamespace) -> dict[str, str]:
    """Return the task, if one of the two options gives it."""
    given = next((word for word in options.input if word.startswith(f"{TASK}=")), None)
    if [options.task, options.task_file, given].count(None) < 2:
        raise RefusedError("the task is given twice: --task, --task-file and --input task= are one")
    if options.task is not None:
        return {TASK: options.task}
    return {TASK: read_text(options.task_file)} if options.task_file is not None else {}


class Inputs(Extension):
    """Programs with inputs."""

    options = (
        ("run", "--input", "NAME=VALUE...", "NAME=VALUE or NAME=@FILE"),
        ("run", "--inputs", "FILE", "values of inputs: a JSON object, or lines NAME: value"),
    )

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program has any."""
        return bool(program.get("inputs"))

    def registers(self, registers: Registers) -> Registers:
        """Add their values."""
        return {**registers, **check_inputs(self.session.program, self.session.options)}


class TaskInput(Extension):
    """Programs whose inputs have a task."""

    options = (
        ("run", "--task", "TEXT", "what is to be done"),
        ("run", "--task-file", "FILE", "the same, from a file"),
    )

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program has that input."""
        return any(item["name"] == TASK for item in program.get("inputs", ()))
