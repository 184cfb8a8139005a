"""Scenarios in a folder, ready to run: commands log their visit and end as a script of outcomes says.

A program compiled from the documents is run with `trial.environment`; then `trial.check_log()` compares what its
commands have logged. What is asked between them shows by the answers it uses up.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from backends.base import Emission
from backends.registry import load
from compiler.diagnostics.model import Diagnostic, Severity
from compiler.driver import Compilation, compile_file
from compiler.ir.program import Program
from tests.equivalence.difference import same
from tests.equivalence.scenario import FOLDER_VARIABLE, Scenario, with_walk
from tests.equivalence.visits import Jump, Trace, Visit

PROMPT = "?"
"""Stands instead of the file where a prompt is visited."""

HOSTILE_FOLDER = 'it\'s "$HOME" é'

# Each line of the log is one command that has run, so their number says which outcome is next. A program that
# runs more commands than the path has finds no outcome: the log then differs from what is expected. The trail is in
# the folder that all commands share (M2); what is given beyond step and file is logged as it arrives. It starts no
# other program where it can do without: thousands of visits are made. Where documents declare something, `names` has
# the variables to look at, and `writes` what commands do besides. Its own variables are none of theirs.
VISIT_SCRIPT = """\
y_line=1 y_number=0 y_step=$1 y_file=$2 y_said= y_names= y_seen=
shift 2
{
  read -r y_outcome <&3
  while read -r _; do y_line=$((y_line + 1)); read -r y_outcome <&3 || y_outcome=; done <"$YARDSTICK/log"
} 3<"$YARDSTICK/script"
[ $# -eq 0 ] || y_said=$(printf '%s\\0' "$@" | od -An -v -tx1 | tr -d ' \\n')
[ ! -e "$YARDSTICK/names" ] || read -r y_names <"$YARDSTICK/names"
if [ -n "$y_names" ]; then
  y_seen=$(
    for y_name in $y_names; do
      eval "[ -z \\"\\${$y_name+x}\\" ] || printf '%s=%s\\\\0' $y_name \\"\\$$y_name\\""
    done | od -An -v -tx1 | tr -d ' \\n'
  )
  y_seen="${RDC_OUTPUT:+keeps}/$y_seen	"
fi
echo >>trail
while read -r _; do y_number=$((y_number + 1)); done <trail
printf '%s\\t%s\\t%s\\t%s\\t%s\\t%s\\t%s\\t%s%s\\n' "$y_file" "$y_step" "${RDC_ATTEMPT:--}" "${RDC_STEP_INSTANCE:--}" \\
    "${RDC_SUBSTEP_INSTANCE:--}" "${y_said:--}" "$y_number" "$y_seen" "${RDC_RUN_ID:--} ${LEAK-}" >>"$YARDSTICK/log"
if [ -n "$y_names" ]; then
  [ ! -e "$YARDSTICK/writes/$y_line" ] || cat "$YARDSTICK/writes/$y_line" >"$RDC_OUTPUT"
fi
[ "$y_outcome" != hang ] || exec sleep 60
[ "$y_outcome" = pass ]
"""

# Says what the next line of the answers says, and takes that line away.
NEXT_ANSWER_SCRIPT = """\
cd "$YARDSTICK" && head -n 1 answers | sed 's/.* //' && sed 1d answers >rest && mv rest answers
"""


class Line(NamedTuple):
    """One command that ran: file ("" for the outermost), step in it, what the environment said (M4), and its arguments.

    `trail` counts the commands that have run in the shared folder. Where documents declare something there are also the
    variables that the command `sees`, and whether it is given a file for values.
    """

    file: str
    step: str
    attempt: int | None
    step_instance: int | None
    substep_instance: int | None
    said: tuple[str, ...]
    trail: int
    sees: tuple[str, ...] = ()
    keeps: bool = False


def errors(made: Compilation | Emission) -> list[Diagnostic]:
    """Why there is no program or no text; warnings keep nothing from being made."""
    return [found for found in made.diagnostics if found.severity is Severity.ERROR]


@dataclass(frozen=True)
class Documents:
    """The documents of a scenario in a folder, compiled and emitted once for all runs of them."""

    main: Path
    emissions: dict[str, Emission] = field(default_factory=dict)

    @cached_property
    def program(self) -> Program:
        """What the compiler makes of them; they must have no errors."""
        compilation = compile_file(str(self.main))
        found = [f"{found.code} {found.message}" for found in errors(compilation)]
        same("the errors of the document", found, [])
        assert compilation.program
        return compilation.program

    def emission(self, backend: str, options: Mapping[str, object]) -> Emission:
        """What a target makes of the program."""
        key = f"{backend} {json.dumps(options)}"
        if key not in self.emissions:
            self.emissions[key] = load(backend).emit(self.program, options)
        return self.emissions[key]


@dataclass(frozen=True)
class Workspace:
    """A folder with the outcomes of a scenario in it, and the documents, which may lie elsewhere."""

    folder: Path
    scenario: Scenario
    documents: Documents

    @property
    def program(self) -> Program:
        """The program of the documents."""
        return self.documents.program

    def again(self, trace: Trace) -> Workspace:
        """A workspace of the same documents with the outcomes of another path, in a folder of its own."""
        folder = Path(tempfile.mkdtemp(prefix="path ", dir=self.folder))
        return _with_outcomes(Workspace(folder, with_walk(self.scenario, trace), self.documents))

    def along(self, trace: Trace) -> Workspace:
        """A workspace of the same documents in the same folder along another path, if nothing reads outcomes there."""
        return replace(self, scenario=with_walk(self.scenario, trace))

    @property
    def answers(self) -> Path:
        """The file with the answers to the prompts."""
        return self.folder / "answers"

    @property
    def answer_lines(self) -> list[str]:
        """The answers in the order in which they are asked; every other step is named in its own."""
        steps = list(dict.fromkeys(step for step, _ in self.asked))
        return [f"{step} {answer}" if steps.index(step) % 2 else answer for step, answer in self.asked]

    def answer_file(self, number: int) -> Path:
        """A file with one of the answers alone; files are told apart by what they say."""
        file = self.folder / f"answer {number}"
        file.write_text(f"{self.answer_lines[number]} # {number}\n", encoding="utf-8")
        return file

    @property
    def asked(self) -> list[tuple[str, str]]:
        """The prompts in order: the step, and the answer."""
        return [(visit.label, _word(passed)) for visit, passed in self.scenario.trace.visits if not visit.is_command]

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment to run the program in: without what another run may have left."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("RDC_", "MAKE", "MFLAGS"))}
        return clean | {FOLDER_VARIABLE: str(self.folder)} | self.secrets

    @property
    def inputs(self) -> dict[str, str]:
        """The inputs that are given to the run, by their names."""
        return dict(self.scenario.trace.given.inputs)

    @property
    def secrets(self) -> dict[str, str]:
        """The secrets by their names."""
        return dict(self.scenario.trace.given.secrets)

    def stops(self, *, is_prompted: bool = False) -> Iterator[Visit | Jump]:
        """What is done each time that the run stops: a prompt is answered, or the operator jumps.

        In a prompted run commands are prompts too.
        """
        trace = self.scenario.trace
        jumps = list(trace.jumps)
        for visit, _ in trace.visits:
            while jumps and jumps[0].index == visit.index:
                yield jumps.pop(0)
            if is_prompted or not visit.is_command:
                yield visit
        yield from jumps

    def check_secrets(self, *texts: str) -> None:
        """No secret, and no line of one, stands in what was said, or in any file of the folder `.rdc`."""
        paths = [path for path in sorted((self.folder / ".rdc").rglob("*")) if path.is_file()]
        kept = {"what was said": "".join(texts).encode(), **{str(path): path.read_bytes() for path in paths}}
        for secret in {part for value in self.secrets.values() for part in (value, *value.splitlines())}:
            written = (secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
            for place, content in kept.items():
                found = [text for text in written if text.encode() in content]
                same(f"secrets in {place}", found, [])

    @property
    def end(self) -> str:
        """How the run must end, and its message (M8), on one line."""
        return " ".join(" ".join(self.scenario.trace.end or ()).split())

    @property
    def exit_code(self) -> int:
        """What the program must end with (M8)."""
        return 0 if self.end.startswith("COMPLETE") else 1

    @property
    def log_lines(self) -> list[str]:
        """What commands have logged."""
        return (self.folder / "log").read_text(encoding="utf-8").splitlines()

    def check_rules(self, said: str) -> None:
        """Compare what rules of make ran with the path: no run has it, and few commands see an attempt."""
        expected = [line._replace(attempt=None) for line in self.expected()]
        same("the commands that ran", [_parse(line)._replace(attempt=None) for line in self.log_lines], expected, said)
        same("the run that commands see", {line.rpartition("\t")[2] for line in self.log_lines} - {"- "}, set(), said)

    def check_log(self, said: str = "", secrets: bool = True) -> None:
        """Compare the commands that ran with those of the path; `secrets` says whether all of them see all secrets."""
        lines = self.log_lines
        same("the commands that ran", [_parse(line) for line in lines], self.expected(secrets), said)
        _check_runs(lines)

    @property
    def visit(self) -> Path:
        """The script by which a command logs its visit."""
        return self.folder / "visit"

    def check_lines(self, lines: Sequence[str]) -> None:
        """Compare the steps of a path, prompts too, each with the line that `visit` logs, except for its trail."""
        commands = iter(self.expected())
        expected = [
            next(commands)._replace(trail=0) if visit.is_command else _prompt(visit.label)
            for visit, _ in self.scenario.trace.visits
        ]
        same("the steps that were visited", [_without_trail(_parse(line)) for line in lines], expected)
        _check_runs(lines)

    def expected(self, secrets: bool = True) -> list[Line]:
        """The commands that had to run."""
        trace = self.scenario.trace
        commands = [visit for visit, _ in trace.visits if visit.is_command]
        known = trace.given.secrets if secrets else ()
        return [_line(visit, number, known) for number, visit in enumerate(commands, 1)]


def _line(visit: Visit, number: int, secrets: tuple[tuple[str, str], ...]) -> Line:
    sees = tuple(sorted(f"{name}={value}" for name, value in (*visit.beyond.sees, *secrets)))
    numbers = (visit.attempt, visit.step_instance, visit.substep_instance)
    return Line(visit.file, visit.step, *numbers, visit.said, number, sees, visit.beyond.keeps)


def _check_runs(lines: Sequence[str]) -> None:
    runs = {line.rpartition("\t")[2] for line in lines}
    same("whether RDC_RUN_ID is one for the run and nothing leaks", _is_one_name(runs), True, str(runs))


def _prompt(label: str) -> Line:
    return Line(PROMPT, label, None, None, None, (), 0)


def _without_trail(line: Line) -> Line:
    """What counts of a line without a trail; a prompt has no environment of its own (M4)."""
    return _prompt(line.step) if line.file == PROMPT else line._replace(trail=0)


def _is_one_name(runs: set[str]) -> bool:
    return not runs or (len(runs) == 1 and all(run.endswith(" ") and not run.startswith("-") for run in runs))


def _word(passed: bool) -> str:
    return "pass" if passed else "fail"


def _parse(line: str) -> Line:
    file, node, *numbers, said, trail, seen, _run = line.split("\t") if line.count("\t") > 7 else _undeclared(line)
    attempt, step, substep = (None if number == "-" else int(number) for number in numbers)
    file, label = (text.replace("@N", "{N}").replace("@n", "{n}") for text in (file, node))
    keeps, _, sees = seen.partition("/")
    words = () if said == "-" else _words(said)
    return Line(
        "" if file == "-" else file,
        label,
        attempt,
        step,
        substep,
        words,
        int(trail),
        tuple(sorted(_words(sees))),
        bool(keeps),
    )


def _undeclared(line: str) -> list[str]:
    *most, run = line.split("\t")
    return [*most, "", run]


def _words(dump: str) -> tuple[str, ...]:
    return tuple(bytes.fromhex(dump).decode(errors="backslashreplace").split("\0")[:-1])


@contextmanager
def workspace(scenario: Scenario) -> Iterator[Workspace]:
    """A scenario in a folder of its own, whose name is as hostile as people's are."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root:
        folder = Path(root, HOSTILE_FOLDER)
        folder.mkdir()
        yield prepare(folder, scenario)


def prepare(folder: Path, scenario: Scenario) -> Workspace:
    """Write a scenario into a folder."""
    (folder / "rdc.toml").touch()
    for path, text in scenario.documents.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
    return _with_outcomes(Workspace(folder, scenario, Documents(folder / scenario.main)))


def _with_outcomes(prepared: Workspace) -> Workspace:
    """Write what commands and those who answer go by."""
    folder, trace = prepared.folder, prepared.scenario.trace
    commands = [(visit, passed) for visit, passed in trace.visits if visit.is_command]
    script = "".join(f"{_ends(visit, passed)}\n" for visit, passed in commands)
    (folder / "script").write_text(script, encoding="utf-8")
    prepared.answers.write_text("".join(f"{line}\n" for line in prepared.answer_lines), encoding="utf-8")
    (folder / "visit").write_text(VISIT_SCRIPT, encoding="utf-8")
    (folder / "next-answer").write_text(NEXT_ANSWER_SCRIPT, encoding="utf-8")
    (folder / "log").touch()
    if prepared.scenario.variables:
        (folder / "names").write_text(f"{' '.join(prepared.scenario.variables)}\n", encoding="utf-8")
        (folder / "writes").mkdir()
        for number, (visit, _) in enumerate(commands, 1):
            if visit.beyond.writes:
                (folder / "writes" / str(number)).write_bytes(visit.beyond.writes.encode())
    return prepared


def _ends(visit: Visit, passed: bool) -> str:
    """How a command ends; what is wrong with what it writes shall be all that makes it fail."""
    return "hang" if visit.beyond.hangs else _word(passed or visit.beyond.is_broken)
