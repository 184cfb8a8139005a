"""Replies of people: read from an input of the workflow, and held against what was asked (I10, I15, I16)."""

import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import Callable, Optional

from runtime_shim.legacy.program import RefusedError, Table
from runtime_shim.legacy.reading import SPACES
from runtime_shim.legacy.runner_calls import ANSWERING, BEGINNING, DOING, Caller, Waiting
from runtime_shim.legacy.runner_says import annotate, one_line
from runtime_shim.legacy.runner_state import Outcome, Run
from runtime_shim.legacy.walk import filled

ASKING = ("ask", "confirm", "input", "select", "gate")
MEANINGS = {"pass": "pass", "yes": "pass", "fail": "fail", "no": "fail"}
WORDS = {"ask": tuple(MEANINGS), "confirm": ("yes", "no"), "gate": ("approved", "rejected")}
OBJECT = re.compile(r'\s*\{\s*["}]')  # how JSON begins; the name of a step may begin with a brace too
SHOWN_REPLY = 200  # characters of one that does not fit
OPENING = re.compile(r"(.*\S)<<(\S+)")


def asking(program: Table) -> list[str]:
    """Return the steps that people answer."""
    return [name for name, unit in program["nodes"].items() if unit["task"] in ASKING]


def takes_words(program: Table) -> bool:
    """Tell whether every question is answered with a word that is known before, so that no text is a reply."""
    return all(program["nodes"][name]["task"] in WORDS for name in asking(program))


def read_replies(program: Table, text: str) -> list[list[str]]:
    """Return the replies of a text, each with the step that it is for, "" for whichever asks next."""
    found = _from_json(text) if OBJECT.match(text) else list(_from_lines(program, text))
    wrong = list(filter(None, (_problem(program, name, reply) for name, reply in found)))
    if wrong:
        raise RefusedError(*wrong)
    return found


def _problem(program: Table, name: str, reply: str) -> str:
    """Return what is wrong with a reply as far as that is known before it is asked for, "" if nothing is."""
    if name and name not in asking(program):
        return f"no step of this name asks anything: {name}"
    unit = program["nodes"].get(name, {"task": ""})
    known: Iterable[str] = WORDS.get(unit["task"], ())
    if not name and takes_words(program):
        known = WORDS["ask"]
    elif unit["task"] == "select" and "placeholders" not in unit:
        known = unit["words"]
    is_known = not known or reply in known or (unit["task"] != "select" and reply.strip().lower() in known)
    return "" if is_known else f"expected {' or '.join(known)}: {f'{name} {reply}'.strip()}"


def _from_json(text: str) -> list[list[str]]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"the answers begin like JSON, and are none: {error}") from None
    found: list[list[str]] = []
    for name, value in values.items():
        replies = value if isinstance(value, list) else [value]
        if not all(isinstance(reply, str) for reply in replies):
            raise RefusedError(f"the answers of {name} are neither a string nor a list of strings")
        found += [[name, reply] for reply in replies]
    return found


def _from_lines(program: Table, text: str) -> Iterator[list[str]]:
    names = sorted(asking(program), key=len, reverse=True)
    if takes_words(program):
        for line in re.split(r"[,;](?:[ \t]|$)|[\r\n]", text, flags=re.MULTILINE):
            words = re.sub(r"(^|[ \t])#.*", "", line).split()
            if words:
                yield [" ".join(words[:-1]), words[-1]]
        return
    lines = iter(_of_one_line(names, text) or re.split(r"\r\n|\r|\n", text))
    for line in lines:
        opening = OPENING.fullmatch(line)
        if opening and opening[1] in names:
            yield [opening[1], "\n".join(_until(opening[2], lines))]
        elif line.strip():
            name = next((name for name in names if line.startswith(f"{name} ")), "")
            yield [name, line[len(name) + 1 :] if name else line]


def _of_one_line(names: list[str], text: str) -> list[str]:
    """Take one line apart at semicolons, if an answer to a named step stands behind each."""
    pieces = [piece.strip() for piece in text.split(";")]
    are_named = all(any(piece.startswith(f"{name} ") for name in names) for piece in pieces)
    return pieces if len(pieces) > 1 and are_named and not re.search(r"[\r\n]", text) else []


def _until(word: str, lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if line == word:
            return
        yield line
    raise RefusedError(f"the line {word}, which ends an answer of several lines, is not there")


def take_reply(run: Run) -> Optional[str]:
    """Take the next reply to the step where the run stands, its own before a common one, and use it up.

    A reply that names no step opens no gate.
    """
    for owner in (run.node,) if run.unit["task"] == "gate" else (run.node, ""):
        for index, (name, reply) in enumerate(run.replies):
            if name == owner:
                del run.replies[index]
                return reply
    return None


def options_of(run: Run) -> list[str]:
    """Return the options of a select, filled in."""
    unit = run.unit
    options: list[str] = unit["options"] if "options" in unit else unit["words"]
    return [filled(unit, option, run.registers) for option in options]


def outcome_of_reply(run: Run, reply: str) -> Optional[Outcome]:
    """Return the outcome of a reply; None if it is none of those that the question takes."""
    task = run.unit["task"]
    if task in WORDS:
        word = reply.strip().lower()
        kept = "" if task == "gate" else word if task == "confirm" else reply
        return Outcome(MEANINGS[word] if task == "ask" else word, kept) if word in WORDS[task] else None
    if task == "input":
        return Outcome("pass", reply.strip(SPACES))
    options = options_of(run)
    return Outcome(run.unit["words"][options.index(reply)], reply) if reply in options else None


def expected(run: Run) -> list[str]:
    """Return what a question may be answered with; nothing if that is any text."""
    unit = run.unit
    if unit["task"] == "ask":
        words: list[str] = unit["question"].upper().split("/")
        return words
    if unit["task"] in WORDS:
        return list(WORDS[unit["task"]])
    return [] if unit["task"] == "input" else options_of(run)


def of_agent(run: Run, answer: str) -> Optional[Outcome]:
    """Return the outcome of what an agent replied to a question: its last line, or all of it where any text will do."""
    if run.unit["task"] == "input":
        return Outcome("pass", answer)
    last = next((line.strip() for line in reversed(answer.split("\n")) if line.strip()), "")
    if run.unit["task"] in ("ask", "confirm"):
        last = re.sub(r"[^A-Z]", "", last.upper()).lower()
    return outcome_of_reply(run, last)


def choices_in_words(replies: Iterable[str]) -> str:
    """Return what may be answered, as a sentence of Markdown; "" if that is any text."""
    words = list(replies)
    if not words:
        return "Answer with a text."
    return f"Answer {' or '.join(words)}." if len(words) < 4 else "Answer one of:\n\n" + "\n".join(words)


def answered(caller: Caller, _script: Optional[str] = None) -> Outcome:
    """Get the answer to a question: of an agent, or of people, for whom the run waits if none fits."""
    run = caller.run
    found: Optional[Outcome]
    asked = ANSWERING.get(run.program.get("asked", "")) if run.unit["task"] != "gate" else None
    if asked is not None:
        found = _answered_by(asked, caller)
    else:
        reply = take_reply(run)
        found = None if reply is None else outcome_of_reply(run, reply)
        if reply is not None and found is None:
            said = f"{run.node}: {one_line(reply)[:SHOWN_REPLY]} is none of: {', '.join(expected(run))}"
            annotate("warning", "Not an answer", said)
    if found is None:
        _wait(caller)
        raise Waiting
    print(f"Answer: {one_line(found.word)}", flush=True)
    return found


def _answered_by(asked: Callable[[Caller, str], Optional[str]], caller: Caller) -> Outcome:
    """Put a question to the agent; where the answer is none, a person must not be asked in its place."""
    run = caller.run
    answer = asked(caller, f"{_question(caller)}\nEnd your answer with a line that is just the reply.\n")
    found = None if answer is None else of_agent(run, answer)
    if found is not None:
        return found
    if run.unit["task"] != "ask":
        raise RefusedError(f"{run.node}: the agent answered none of: {', '.join(expected(run)) or 'a text'}")
    annotate("warning", "No verdict", "The last line of the answer is none of those asked for; it counts as FAIL")
    return Outcome("fail", answer or "")


def _question(caller: Caller) -> str:
    """Return a question as Markdown: what is asked, the block below it, and what may be answered."""
    unit = caller.run.unit
    parts = [caller.text("reason" if unit["task"] == "gate" else "prompt")]
    block = caller.text("block")
    if block:
        fence = "```"
        while fence in block:
            fence += "`"
        parts.append(f"{fence}{unit.get('language', '')}\n{block}\n{fence}")
    parts.append(choices_in_words(expected(caller.run)))
    return "\n\n".join(part for part in parts if part) + "\n"


def _wait(caller: Caller) -> None:
    caller.run.save(caller.folder / "state")
    replies = expected(caller.run)
    first = replies[0] if replies else "TEXT"
    lines = [one_line(caller.run.node), one_line(first), _question(caller)]
    (caller.folder / "waiting").write_text("\n".join(lines), encoding="utf-8", errors="replace")


def take_answers(run: Run) -> None:
    """Add the answers that were given with this run to those that are not used yet."""
    run.replies = read_replies(run.program, os.environ.get("RDC_ANSWERS", "")) + run.replies


DOING.update(dict.fromkeys(ASKING, answered))
BEGINNING.append(take_answers)
