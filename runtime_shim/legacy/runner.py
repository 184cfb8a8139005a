"""What the steps of a workflow call: `begin`, `step` and `loop`, `ask` before an approval, and `result`."""

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Optional

from runtime_shim.legacy.fitting import unfit
from runtime_shim.legacy.program import (
    EXIT_COMPLETE,
    EXIT_INTERRUPTED,
    EXIT_REFUSED,
    EXIT_STOP,
    EXIT_WAITING,
    RefusedError,
    Table,
)
from runtime_shim.legacy.runner_calls import (
    BEGINNING,
    DOING,
    LEAVING,
    STEPS,
    Caller,
    Waiting,
    failed,
    masked,
    pause,
    processes_of,
)
from runtime_shim.legacy.runner_says import SHOWN, annotate, as_block, one_line, output, tell
from runtime_shim.legacy.runner_state import Outcome, Run, read_state
from runtime_shim.legacy.signals import Interrupted, Signals, held_back
from runtime_shim.legacy.values import UnfitError
from runtime_shim.legacy.walk import attempt_of

MOST_ROWS = 2000  # of the summary
SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#&~!"})
GOOD = ("pass", "yes", "approved")
BAD = ("fail", "failed", "no", "rejected", "none", "invalid", "ambiguous")
LARGEST_INPUT = 1024 * 1024  # characters
DECISIONS = ("success", "failure")  # how the job of an approval ends


class Runner:
    """A step's work on the run whose state lies in a folder."""

    def __init__(self, program: Table, folder: Path) -> None:
        self.program = program
        self.folder = folder
        self.path = folder / "state"

    # --- The first step of a job -------------------------------------------------------------------------------------

    def begin(self, part: str, *_others: str) -> int:
        """Begin a run, or go on with one that another job or run has left."""
        run = read_state(self.program, self.path) if self.path.exists() else self._new()
        if os.environ.get("RESUME"):  # it had paused before it asked
            (self.folder / "paused").touch()
        for begin in BEGINNING:
            begin(run)
        self._decide(run)
        return self._leave(run, part)

    def _new(self) -> Run:
        run = Run(self.program)
        inputs: dict[str, Optional[str]] = {}
        wrong: list[str] = []
        for declared in self.program.get("inputs", ()):
            value = (
                os.environ.get(f"RDC_INPUT_{declared['as']}") or self._found(declared["as"]) or declared.get("default")
            )
            inputs[declared["name"]] = value
            problem = "a value is needed" if value is None and declared["required"] else ""
            if value is not None:
                is_text = not any("\ud800" <= character <= "\udfff" for character in value)
                fits = unfit(value, declared["type"], declared.get("options", ()), declared.get("pattern"))
                problem = fits if is_text else "it is not UTF-8"
                problem = problem or ("it is longer than 1 MiB" if len(value) > LARGEST_INPUT else "")
            if problem:
                wrong.append(f"the input {declared['name']}: {problem}")
        if wrong:
            raise RefusedError(*wrong)
        run.begin(os.environ["RDC_RUN_ID"], inputs)
        return run

    def _found(self, name: str) -> str:
        """Return what a command has said of an input before the run, without line ends behind it."""
        path = self.folder.with_name("rdc-bound") / name
        text = path.read_bytes().decode("utf-8", "replace") if path.exists() else ""
        return text.rstrip("\n")

    def _decide(self, run: Run) -> None:
        """Take what people have decided about the step where the run stands, if it is behind an environment.

        They are asked only about that step: if the run stands elsewhere afterwards, somebody has changed it.
        """
        for token in os.environ.get("RDC_ASKED", "").split():
            if os.environ[f"RDC_DECISION_{token}"] != "skipped" and token != run.token:
                raise RefusedError(f"people were asked about {token}, and the run stands elsewhere. Begin a new run")
        said = os.environ.get(f"RDC_DECISION_{run.token}", "skipped") if not run.end else "skipped"
        if said == "skipped":
            return
        if said not in DECISIONS:
            raise RefusedError(f"nobody has decided about {run.node}: its approval has ended as {one_line(said)}")
        words = ("approved", "rejected") if run.unit["task"] == "gate" else ("pass", "fail")
        run.go_on(Outcome(words[DECISIONS.index(said)]), 0)

    # --- A step, or a loop -------------------------------------------------------------------------------------------

    def walk(self, place: str, script: Optional[str] = None) -> int:
        """Do a step, or those of a loop until it is left; one that is done already is only told again."""
        run = read_state(self.program, self.path)
        units = self.program["places"][place]
        if place in run.left:
            print("This was done before the run had to wait.")
            return self._leave(run, place)
        if run.end or run.node not in units:
            raise RefusedError(f"the run stands at {run.node}, where this step of the workflow does nothing")
        with held_back() as signals:
            processes = processes_of(signals)
            while run.node in units and not run.end:
                caller = Caller(run, processes, self.folder, place)
                if len(units) > 1 or attempt_of(run.unit, run.registers) > 1:
                    print(f"[{len(run.journal) + 1}] {one_line(run.text(run.unit['title'])) or run.token}", flush=True)
                self._pause(run, signals)
                begun = time.monotonic()
                outcome = self._outcome(caller, script)
                if signals.has_come():
                    raise Interrupted
                run.go_on(outcome, round(time.monotonic() - begun))
                run.save(self.path)
        return self._leave(run, place)

    def _pause(self, run: Run, signals: Signals) -> None:
        """Wait before a further attempt, unless the run that this one goes on with has waited already."""
        paused = self.folder / "paused"
        if paused.exists():
            paused.unlink()
        else:
            pause(run, signals)

    def _outcome(self, caller: Caller, script: Optional[str]) -> Outcome:
        try:
            return DOING[caller.run.unit["task"]](caller, script)
        except UnfitError as error:
            annotate("error", "Step", f"{caller.run.token} failed: {error}")
            return Outcome(failed(caller.run.unit))

    def _leave(self, run: Run, place: str) -> int:
        """Say where the run goes on. An end by STOP fails the step, so that GitHub skips the others."""
        token = run.left.setdefault(place, run.token)
        run.save(self.path)
        output("next", token)
        for told in LEAVING:
            told(run, place)
        return EXIT_STOP if run.end == "STOP" and token == run.token else EXIT_COMPLETE

    def ask(self, place: str, *_others: str) -> int:
        """Put the question of an approval on the page of the run."""
        run = read_state(self.program, self.path)
        if run.node in self.program["places"][place] and not run.end:
            with held_back() as signals:
                caller = Caller(run, processes_of(signals), self.folder, place)
                tell("GITHUB_STEP_SUMMARY", as_block(caller.text("reason" if run.unit["task"] == "gate" else "prompt")))
        return EXIT_COMPLETE

    def save(self, path: str, *_others: str) -> int:
        """Write the state for another job or run, unless a text in it holds a secret."""
        run = read_state(self.program, self.path)
        for name, value in run.registers.items():
            if isinstance(value, str) and masked(value) != value:
                raise RefusedError(
                    f"the text {name} holds a secret, so the run is not saved. Fetch it anew in a later step"
                )
        if any(masked(reply) != reply for _, reply in run.replies):
            raise RefusedError("an answer holds a secret, so the run is not saved")
        run.save(Path(path))
        return EXIT_COMPLETE

    # --- The last step -----------------------------------------------------------------------------------------------

    def result(self, *_others: str) -> int:
        """Give the job its result, and write the summary."""
        run = read_state(self.program, self.path)
        waiting = self.folder / "waiting"
        word, message = run.end, run.message if run.end else ""
        if waiting.exists():
            word, message = "WAITING", one_line(run.node)
            output("waiting", "true")
        elif not word and os.environ["RDC_JOB"] == "success" and run.token in os.environ.get("RDC_ONWARD", "").split():
            self._picture(run)
            output("next", run.token)
            return EXIT_COMPLETE
        elif not word or (word == "COMPLETE" and os.environ["RDC_JOB"] != "success"):
            says = "No end of the program was reached, since a step failed before"
            annotate("error", "rdc", says)
            print(f"rdc: error {says}")
            return EXIT_STOP
        self._summary(run, f"{word} {one_line(message)}".strip(), waiting)
        return self._said(word, message)

    @staticmethod
    def _said(word: str, message: str) -> int:
        said = f"{word} {one_line(message)}".strip()
        if word == "WAITING":
            annotate("warning", word, f"{message} needs an answer")
        elif word == "STOP":
            annotate("error", word, message)
        print(f"rdc: {said}", flush=True)
        return {"COMPLETE": EXIT_COMPLETE, "WAITING": EXIT_WAITING}.get(word, EXIT_STOP)

    def _summary(self, run: Run, says: str, waiting: Path) -> None:
        tell("GITHUB_STEP_SUMMARY", masked(f"### {says[:SHOWN].translate(SPECIAL)}\n"))
        if waiting.exists():
            tell("GITHUB_STEP_SUMMARY", masked(as_block(waiting.read_text(encoding="utf-8").split("\n", 2)[2])))
        if not self.program["summary"]:
            return
        rows = ["| Step | Attempt | Outcome | Time |", "| --- | ---: | --- | ---: |"]
        rows += [self._row(*entry) for entry in run.journal[:MOST_ROWS]]
        rows += ["| and more | | | |"] if run.journal[MOST_ROWS:] else []
        tell("GITHUB_STEP_SUMMARY", "\n".join(rows))
        self._picture(run)

    def _row(self, name: str, attempt: int, word: str, seconds: int, instance: str) -> str:
        unit = self.program["nodes"][name]
        shown = {"yes/no": {"pass": "YES", "fail": "NO"}}.get(unit.get("question", ""), {}).get(word, word)
        shown = shown.upper() if shown in ("pass", "fail") else one_line(shown).translate(SPECIAL)
        title = unit["called"].translate(SPECIAL) + (f", instance {instance}" if instance else "")
        return f"| {title} | {attempt} | {shown} | {seconds} s |"

    def _picture(self, run: Run) -> None:
        """Draw the flow, with what has run."""
        flow = os.environ.get("RDC_FLOW", "")
        if not flow:
            return
        outcomes = {self.program["steps"][name]: word for name, _, word, _, _ in run.journal}
        lines = [f"class {step} {'failed' if word in BAD else 'passed'}" for step, word in outcomes.items()]
        tell("GITHUB_STEP_SUMMARY", "\n".join(["", "```mermaid", flow, *lines, "```"]))


def run_step(program: Table, words: Iterable[str]) -> int:
    """Do what a step asks for; what goes wrong ends the step by the exit code 2."""
    verb, *others = words
    runner = Runner(program, Path(os.environ["RUNNER_TEMP"], "rdc"))
    verbs: dict[str, Any] = {
        "begin": runner.begin,
        "step": runner.walk,
        "loop": runner.walk,
        "ask": runner.ask,
        "save": runner.save,
        "result": runner.result,
    }
    try:
        code: int = STEPS[verb](program, runner.folder, others) if verb in STEPS else verbs[verb](*others)
    except Waiting:
        return EXIT_WAITING
    except Interrupted:
        print("rdc: INTERRUPTED", flush=True)
        return EXIT_INTERRUPTED
    except RefusedError as error:
        for reason in error.args:
            annotate("error", "rdc", str(reason))
            tell("GITHUB_STEP_SUMMARY", as_block(one_line(str(reason))))
        print(f"rdc: error {one_line('; '.join(map(str, error.args)))}", flush=True)
        return EXIT_REFUSED
    except OSError as error:
        says = f"{error.strerror}: {error.filename or 'a process could not be started'}"
        annotate("error", "rdc", says)
        print(f"rdc: error {one_line(says)}", flush=True)
        return EXIT_REFUSED
    return code
