"""The generated Makefile, run by GNU make: with all answers at once, one by one, and killed again and again."""

from __future__ import annotations

import random

from tests.equivalence.difference import same
from tests.programs.drivers.process import Done, killed, run
from tests.programs.trial import Trial, answer_lines, drop_repeated, go_back_to, is_plain

KILLS = 4


def compare(trial: Trial) -> bool:
    """Run a case to its end."""
    _write(trial)
    trial.write_answers()
    return _check(trial, run(trial, ["make", *_given(trial), *_inputs(trial), "ANSWERS=answers"], _environment(trial)))


def compare_in_pieces(trial: Trial) -> bool:
    """Run a case without answers; each is recorded before another make goes on, or brought by that one."""
    _write(trial)
    done = run(trial, ["make", *_given(trial), *_inputs(trial)], _environment(trial))
    for number, (step, reply) in enumerate(trial.asked):
        same("what a run waits for", _last(done), f"rdc: WAITING {step}", done.said)
        brought: list[str] = []
        if is_plain(reply):
            answered = run(trial, ["make", "answer", f"STEP={step}", f"REPLY={reply}"])
            same("the exit code of an answer", answered.code, 0, answered.said)
        else:
            file = trial.folder / f"answer-{number}"
            file.write_bytes(("\n" * number + answer_lines(step, reply)).encode())
            brought = [f"ANSWERS={file.name}"]
        done = run(trial, ["make", "resume", *_given(trial), *brought], _environment(trial))
    return _check(trial, done)


def compare_killed(trial: Trial) -> bool:
    """Run a case and kill all of it at random moments, a call among them; no step that has finished is done again."""
    moments = random.Random(trial.case.text)
    _write(trial)
    trial.write_answers()
    words = ["make", *_given(trial), *_inputs(trial), "ANSWERS=answers"]
    done: Done | None = None
    for _ in range(KILLS):
        done = killed(trial, words, moments, _environment(trial))
        if done is not None:
            break
        finished = _finished(trial)
        go_back_to(trial, finished or 0, _answered(trial))
        if finished is not None:
            words = ["make", "resume", "RERUN=1", *_given(trial), "ANSWERS=answers"]
    done = done or run(trial, words, _environment(trial))
    drop_repeated(trial)
    return _check(trial, done)


def _write(trial: Trial) -> None:
    (trial.folder / "Makefile").write_bytes(trial.emitted("make").encode())


def _given(trial: Trial) -> list[str]:
    """The tools; and the agent, where it is the only one, and there is no question that it could answer too."""
    (trial.folder / "tools").write_text("".join(f"{name}={command}\n" for name, command in trial.tools.items()))
    words = ["TOOLS=tools"] if trial.tools else []
    return [*words, f"AGENT={trial.agents['']}"] if list(trial.agents) == [""] and not trial.asked else words


def _environment(trial: Trial) -> dict[str, str]:
    """The agents by their types, and the common one."""
    agents = trial.agents
    listed = trial.folder / "agents"
    listed.write_text("".join(f"{name}={command}\n" for name, command in agents.items() if name))
    found = {"RDC_AGENTS": str(listed)} if any(agents) else {}
    return {**found, "RDC_AGENT": agents[""]} if "" in agents else found


def _inputs(trial: Trial) -> list[str]:
    """Values of one line as words of make's command line, others by a file: make takes spaces off their beginning."""
    words, lines = [], ""
    for name, value in trial.case.inputs.items():
        if "\n" in value or "\r" in value or value != value.strip():
            lines += f"{name}<<END_OF_INPUT\n{value}\nEND_OF_INPUT\n"
        else:
            words.append(f"{name}={value}")
    (trial.folder / "inputs").write_bytes(lines.encode())
    return [*words, "INPUTS=inputs"] if lines else words


def _check(trial: Trial, done: Done) -> bool:
    """Compare the calls, the end and its message, and that make fails where it must."""
    trial.check_calls(done.said)
    trial.check_reports(trial.folder / ".rdc" / "program.make" / "reports", done.said)
    same("the last line", _plain(_last(done)), _plain(f"rdc: {trial.end}"), done.said)
    trial.check_artifact(trial.folder / ".rdc" / "program.make", done.said)
    same("whether make fails", bool(done.code), not trial.end.startswith("COMPLETE"), done.said)
    return True


def _last(done: Done) -> str:
    """The last line; a command whose output has no line end stands before it."""
    line = (done.output.split("\n")[:-1] or [""])[-1]
    return line[max(line.rfind("rdc: "), 0) :]


def _plain(text: str) -> str:
    """A message without spaces, and without what no terminal shows as it is: a question mark stands for it."""
    return "".join(character for character in text if character.isprintable() and character not in " ?")


def _finished(trial: Trial) -> int | None:
    """How many steps the journal says have ended; None if there is no run."""
    lines = _journal(trial)
    return sum(line.split(" ", 2)[1] == "end" for line in lines) if lines else None


def _answered(trial: Trial) -> list[int]:
    """The entries of the step at work that have answered."""
    lines = _journal(trial)
    entries = trial.folder / ".rdc" / "program.make" / "entries"
    is_at_work = bool(lines) and lines[-1].split(" ", 2)[1] == "begin"
    return [int(path.name) for path in entries.glob("*[0-9]")] if is_at_work else []


def _journal(trial: Trial) -> list[str]:
    path = trial.folder / ".rdc" / "program.make" / "journal"
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    return text[: text.rfind("\n") + 1].splitlines()
