"""Inputs: values given at the start of a run."""

import json
import types
from typing import Any

from runtime_shim.engine.program import Table, UsageError, takes_empty
from runtime_shim.engine.session import Extension, Session
from runtime_shim.engine.texts import meant, one_line
from runtime_shim.engine.walk import Registers
from runtime_shim.io.answers import read_text
from runtime_shim.io.terminal import asked, forget_pasted, more_comes
from runtime_shim.values.fitting import unfit
from runtime_shim.values.slots import pairs_in


def _from_file(path: str) -> dict[str, str]:
    """Return the inputs in a file: a JSON object, or `NAME=VALUE` and `NAME<<WORD` lines."""
    text = read_text(path)
    if not text.lstrip().startswith("{"):
        return _from_lines(path, text)
    found = read_json(path, text)
    if wrong := [name for name, value in found.items() if not isinstance(value, (str, int, float))]:
        raise UsageError(f"{path}: {', '.join(wrong)}: expected a string, a number, true or false")
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in found.items()}


def read_json(path: str, text: str) -> Any:  # any JSON value
    """Return the content of a JSON file."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not JSON: {error} (`rdc run` also reads YAML)") from None


def _from_lines(path: str, text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    lines = text.replace("\r\n", "\n").split("\n")
    try:
        for number, name, value in pairs_in("\n".join(lines), has_comments=True):
            if name in found:
                raise UsageError(f"{path}:{number}: {name} is given twice")
            found[name] = unquoted(value) if lines[number - 1].lstrip().startswith(f"{name}=") else value
    except ValueError as error:
        raise UsageError(f"{path}: {error}, and the file is not a JSON object") from None
    return found


def unquoted(value: str) -> str:
    """Return a value without the quotes around it, as shells read it."""
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" and value[0] not in value[1:-1]
    return value[1:-1] if is_quoted else value


def _from_options(options: types.SimpleNamespace, declared: dict[str, Table]) -> dict[str, str]:
    """Return the inputs in the options of a call. A value with an @ in front names a file."""
    given = {} if options.task is None else {"task": options.task}
    for word in (*options.input, *([] if options.task_file is None else [f"task=@{options.task_file}"])):
        name, equals, value = word.partition("=")
        if not equals:
            raise UsageError(f"--input {word}: expected NAME=VALUE or NAME=@FILE")
        if name in given:
            raise UsageError(f"input {name} is given twice")
        if value.startswith("@@"):  # an escaped @
            value = value[1:]
        elif value.startswith("@"):
            try:
                value = read_text(value[1:])
            except FileNotFoundError:
                escape = f"for a value that starts with @, write --input {name}=@{value}"
                raise UsageError(one_line(f"input {name}: the file {value[1:]} does not exist; {escape}")) from None
            if declared.get(name, {}).get("type") != "text":
                value = value.removesuffix("\n").removesuffix("\r")
        given[name] = value
    return given


def _issue(item: Table, value: "str | None") -> str:
    """Return the problem with the value of an input, or ""."""
    if value is None:
        return "a value is required" if item["required"] else ""
    return unfit(value, item["type"], item.get("options", ()), item.get("pattern"))


def _typed(session: Session, item: Table) -> "str | None":
    """Ask for an input. An empty line takes the default, and ends a multi-line string."""
    name, options, default = item["name"], item.get("options", ()), item.get("default")
    is_long, is_empty_fit = item["type"] == "text", takes_empty(item)
    about = (
        f"one of {', '.join(options)}" if options else "",
        "several lines; end with an empty line" if is_long else "",
        f"default {default}" if default is not None else "" if item["required"] else "optional",
    )
    details = one_line("; ".join(filter(None, about)))

    def read(text: str) -> str:
        value = text.rstrip("\n")
        if problem := _issue(item, value or (value if is_empty_fit else default)):
            raise UsageError(one_line(problem))
        return value

    def goes_on(line: str) -> bool:  # a paste may have empty lines
        return is_long and (line != "\n" or more_comes())

    session.display.line(one_line(f"{name}: {item.get('description', '')}").rstrip(": "))
    return asked(session, f"{name} ({details}): " if details else f"{name}: ", read, goes_on)


class Inputs(Extension):
    """Reads and checks the inputs of a run."""

    needs = ("inputs",)
    options = (
        ("run", "--input", "NAME=VALUE...", "set an input; NAME=@FILE reads it from a file"),
        ("run", "--inputs", "FILE", "read inputs from FILE: a JSON object or NAME=VALUE lines"),
        ("run", "--task", "TEXT", "the same as `--input task=TEXT`"),
        ("run", "--task-file", "FILE", "the same as `--input task=@FILE`"),
    )

    def registers(self) -> Registers:
        """Return the values of the inputs, or refuse all unfit ones at once."""
        session = self.session
        declared: dict[str, Table] = {item["name"]: item for item in session.program["inputs"]}
        given = _from_file(session.options.inputs) if session.options.inputs else {}
        given.update(_from_options(session.options, declared))
        known = f"; the inputs are {', '.join(declared)}"
        unknown = (name for name in given if name not in declared)
        wrong = [f"there is no input {one_line(name)}{meant(name, declared) or known}" for name in unknown]
        missing = [item for name, item in declared.items() if name not in given]
        if session.is_interactive and not wrong and any(_issue(item, item.get("default")) for item in missing):
            try:
                for item in missing:
                    value = _typed(session, item)
                    if value is None:
                        break
                    given.update({item["name"]: value} if value or takes_empty(item) else {})
            finally:
                forget_pasted()
        found = {name: given.get(name, item.get("default")) for name, item in declared.items()}
        problems = ((name, _issue(item, found[name])) for name, item in declared.items())
        wrong += [f"input {name}: {problem}; set it with --input {name}=VALUE" for name, problem in problems if problem]
        if wrong:
            raise UsageError(*wrong)
        return found
