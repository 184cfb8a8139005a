"""Programs that a Makefile calls: make's variables become options, and hints name targets of the Makefile.

The Makefile sets up to four variables. `RDC_MAKE` has the words that call make again. `RDC_GIVEN` has words
`NAME=VALUE`. `RDC_PLACE` has the places of a step, with `%` and two digits for odd characters. `RDC_OPENS` allows this
call to open a gate.
"""

import difflib
import os
import re
import shlex
import sys
from collections.abc import Iterator
from typing import Any, ClassVar
from urllib.parse import unquote

from runtime_shim.cli.command_line import COMMANDS, options_of
from runtime_shim.engine.display import Display
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension, Options, Session, Subcommands
from runtime_shim.engine.texts import one_line
from runtime_shim.io.answers import read_text
from runtime_shim.values.slots import pairs_in

RENAMED = {
    "RERUN": "--rerun-interrupted",
    "KEEP": "--prune",
    "TOOLS": "--tool",
    "AGENTS": "--agent-for",
    "RUN_ID": "RUN",
}
OF_FILES = ("--tool", "--agent-for")  # make takes a file with one per line
OF_TASK = ("TASK", "TASK_FILE")  # for documents with an input `task`
IDS = {"STEP": "ID", "GATE": "ID", "REPLY": "REPLY", "RUN": "ID"}  # positional words
OTHERWISE = ("--state-dir", "--input", "--var", "--dry-run", "PLACE")  # make has others for these
FOR_OTHERS = (  # names that other Makefiles take
    *("AGENT", "AGENTS", "AGENT_CALLS", "AGENT_MODEL", "AGENT_RETRIES", "AGENT_TIMEOUT", "ALL", "AS", "AT", "BREAK"),
    *("BY", "EXECUTOR", "EXPIRE", "GATE", "HUMAN", "INPUTS", "ITEM", "JOBS", "KEEP", "MAX_STEPS", "MAX_VISITS"),
    *("NOTE", "NOTIFY", "OUT", "OVERRIDE", "PROMPTED", "TASK", "TASK_FILE", "TOOLS", "VALUE"),
)
TRUE, FALSE = ("1", "yes", "true", "on"), ("", "0", "no", "false", "off")
ALIKE = 0.79  # similarity of a misspelled name
OPTION = r"(?<![\w-])(--[a-z]+(?:-[a-z]+)*)(?: (\w+=[A-Z]*|[A-Z]+\b(?!=)))?"
Takes = dict[str, tuple[str, str]]  # option and value by make's name


def given_to_make(command: str) -> dict[str, str]:
    """Return make's variables. One call of make opens one gate, so later calls don't get HUMAN."""
    pairs = (word.partition("=") for word in shlex.split(os.environ.get("RDC_GIVEN", "")))
    is_used_up = command in ("run", "resume", "step") and "RDC_OPENS" not in os.environ
    return {name: value for name, _, value in pairs if name != "HUMAN" or not is_used_up}


def make_call() -> str:
    """Return the command that calls make again, up to the target's name."""
    return f"{shlex.join(['make', *shlex.split(os.environ['RDC_MAKE'])])} "


def name_of(option: str) -> str:
    """Return make's name for an option."""
    known = {each: name for name, each in RENAMED.items()}
    return known.get(option) or option.strip("-").upper().replace("-", "_")


def taken(options: Options) -> Takes:
    """Return options and their values by make's names."""
    return {name_of(name): (name, takes) for _, name, takes, _ in options if name not in OTHERWISE}


def values_of(name: str, value: str, option: str, takes: str) -> list[Any]:
    """Return the values of an option; an empty string gives none."""
    if option.startswith("--") and not takes:
        if value.lower() not in (*TRUE, *FALSE):
            raise UsageError(f"{name}={one_line(value)}: expected 1 or 0")
        return [True] if value.lower() in TRUE else []
    if option in OF_FILES and value:
        lines = (line.rstrip("\r") for line in read_text(value).split("\n"))
        return [line for line in lines if line.strip() and not line.startswith("#")]
    if option == "--value" and value:  # `NAME=VALUE` and `NAME<<WORD` lines, as in RDC_OUTPUT
        try:
            return [f"{key}={text}" for _, key, text in pairs_in(value)]
        except ValueError as error:
            raise UsageError(f"{name}: {error}") from None
    words = value.split("\n") if option == "--override" else [value]
    return value.split() if option == "--break" else words if value else []


def with_reply(given: dict[str, str]) -> dict[str, str]:
    """Return make's variables, with the text of FILE as the reply."""
    if not given.get("FILE"):
        return given
    if given.get("REPLY"):
        raise UsageError("use FILE or REPLY, not both")
    return {**given, "FILE": "", "REPLY": read_text(given["FILE"]).removesuffix("\n").removesuffix("\r")}


def warn_of(name: str, inputs: list[str], display: Display) -> None:
    """Warn about a name that looks like a misspelled input."""
    lower = {one.lower(): one for one in inputs}
    for near in difflib.get_close_matches(name.lower(), lower, 1, ALIKE):
        display.line(f"rdc: warning: {one_line(name)} is not an input; did you mean {lower[near]}?")


def listed(session: Session) -> int:
    """Print the targets of the Makefile and its variables."""
    every = {**COMMANDS, **{name: each for one in session.extensions for name, each in one.commands.items()}}
    rows = {session.call(name): text for name, (text, _) in every.items() if name != "step"}
    rows.update({session.call("clean"): "the same as reset", session.call("step-X"): "run step X, if it is next"})
    inputs = {}
    for item in session.program.get("inputs", ()):
        is_needed = item["required"] and item.get("default") is None
        inputs[item["name"]] = f"{item.get('description', '')}{' (required)' if is_needed else ''}"
    rows.update({f"{name}=VALUE": text for name, text in inputs.items()})
    texts = {name: text for _, name, _, text in session.options.known}
    rows["FILE=FILE"] = "a file with the reply"
    for name, (option, takes) in sorted(taken(session.options.known).items()):
        if name in OF_TASK and "task" not in inputs:
            continue
        value = "FILE" if option in OF_FILES else takes.strip(".?") or ("1" if option.startswith("--") else IDS[option])
        rows[f"{name}={value}"] = texts[option] + (f"; one {takes.rstrip('.')} per line" if option in OF_FILES else "")
    width = max(map(len, rows)) + 2
    told = [f"  {one_line(name):{width}}{one_line(MakeCaller.worded(text))}" for name, text in rows.items()]
    return session.display.say([one_line(session.program["title"]), "", *told])


class MakeCaller(Extension):
    """A call of the program by a Makefile."""

    commands: ClassVar[Subcommands] = {"help": ("list the targets and variables", listed)}

    @staticmethod
    def suits(_program: Table) -> bool:
        """Return whether make calls the program."""
        return "RDC_MAKE" in os.environ

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._make, self._given = make_call(), given_to_make("")
        for name in ("RDC_MAKE", "RDC_GIVEN", "RDC_PLACE", "RDC_OPENS"):
            os.environ.pop(name, None)  # not for the program's commands

    @staticmethod
    def from_caller(program: Table, options: Options, command: str, display: Display) -> Iterator[tuple[str, Any]]:
        """Return make's variables as options; unknown names become environment variables."""
        display.rules = sys.stdout  # make uses standard error
        here, everywhere = taken(options_of(command, options)), taken(options)
        inputs, given = [item["name"] for item in program.get("inputs", ())], given_to_make(command)
        if "REPLY" in here:
            given, here = with_reply(given), {**here, "FILE": ("FILE", "")}
        yield from (("PLACE", unquote(place)) for place in os.environ.get("RDC_PLACE", "").split())
        for name, value in given.items():
            if name in inputs and command in ("run", "open"):
                yield "--input", f"{name}={value}".replace("=@", "=@@", 1)
            elif name in here and name not in inputs:
                option, takes = here[name]
                yield from ((option, each) for each in values_of(name, value, option, takes))
            elif name in inputs or name in everywhere or name == "FILE":
                raise UsageError(f"{command} does not take {name}; leave it out")
            elif name in FOR_OTHERS:
                hint = "leave it out, or set it in make's environment"
                raise UsageError(f"this Makefile does not take {name}; {hint}")
            else:
                os.environ[name] = value
                warn_of(name, [other for other in inputs if other not in given], display)
        for name in ("STEP", "REPLY", "GATE"):
            if name in here and not given.get(name):
                raise UsageError(f"{name} is missing; for help, run: {make_call()}help")

    @staticmethod
    def worded(text: str) -> str:
        """Return a text with make's names for options."""
        return re.sub(OPTION, lambda found: worded_option(found[1], found[2] or ""), text)

    def call(self, words: tuple[str, ...]) -> str:
        """Return a subcommand as a call of make."""
        verb, *rest = words
        known = options_of(verb, self.session.options.known)
        due, more = [name for _, name, _, _ in known if name[0] != "-"], iter(rest)
        said: dict[str, str] = {}
        for word in more:
            if not word.startswith("--"):
                said[due.pop(0)] = word
            elif word not in OTHERWISE:
                name, switches = name_of(word), [each for _, each, takes, _ in known if not takes]
                value = "1" if word in switches else next(more, "")
                value = "FILE" if word in OF_FILES else value
                said[name] = f"{said[name]}\n{value}" if name in said else value
        repeated = {word for repeat in self.session.each("repeat", verb) for word in repeat}
        for name, (option, _) in taken(known).items():
            if option in repeated and name in self._given:
                said[name] = self._given[name]
        return " ".join([f"{self._make}{verb}", *(f"{name}={shlex.quote(value)}" for name, value in said.items())])


def worded_option(option: str, takes: str) -> str:
    """Return make's words for an option and its value."""
    if option == "--input":
        return takes or "NAME=VALUE"
    if option == "--state-dir":
        return "the option `state-dir`"
    if option in OF_FILES:
        return f"{name_of(option)}=FILE with a line {takes}" if takes else name_of(option)
    return f"{name_of(option)}={takes}" if takes else name_of(option)
