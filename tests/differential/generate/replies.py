"""Random replies for the steps of a program, and its reports: what its commands, agents, tools and people do."""

import re
from typing import Any

from hypothesis import strategies as st

from tests.differential.case import Json
from tests.differential.generate import flag, number, pick, rarely
from tests.differential.oracles.answers import WHITE, keywords_of
from tests.differential.oracles.program import AFTER_FOLDER, BEFORE_FOLDER, SLOT
from tests.support.hostile_texts import LINES, NASTY, OBJECTS, PATTERNS

BROKEN_BYTES = ("\udcff\udcfe bytes", "cut off \udce2\udc82", "\udcc3(")
"""Bytes that are no UTF-8, as `surrogateescape` has them."""

EXITS = (0, 0, 0, 0, 0, 0, 1, 3, 255, 0, 0, 0)
LINE_ENDS = (*["\n"] * 4, "\r\n", "\n\n", "\r", " ")


def replies(draw: st.DrawFn, node: Json) -> list[Json]:
    """What the visits of a step find, one after the other."""
    return [reply(draw, node) for _ in range(number(draw, 1, 4))]


def reply(draw: st.DrawFn, node: Json) -> Json:
    task = node["task"]
    if "timeout" in node.get("settings", {}) and flag(draw):
        return {"hangs": True}
    if task["kind"] == "shell":
        return command(draw, node)
    if task["kind"] in {"agent", "tool"}:
        return answer(draw, task)
    if task["kind"] == "parallel":
        return {"entries": [answer(draw, agent) for agent in task["entries"]]}
    if task.get("question") == "input":
        return {"reply": pick(draw, NASTY)}
    if task.get("question") == "value":
        return {"reply": pick(draw, (*values(task["value"]), "fail", "NO"))}
    if task.get("question") == "select":
        return {"reply": number(draw, 0, 3)}
    return {"reply": flag(draw)}


def values(wanted: Json) -> list[str]:
    """Replies that a question for a value takes."""
    if wanted.get("type") == "choice":
        return [f" {option} " for option in wanted["options"]]
    if wanted.get("type") == "number":
        return ["3", "-1.50", "\t007"]
    texts = [text for text in LINES if text != "pass" and text.strip(WHITE)]
    return [text for text in texts if re.fullmatch(wanted.get("pattern", ".*"), text.strip(WHITE))]


def answer(draw: st.DrawFn, task: Json) -> Json:
    """What an agent or a tool prints: lines of keywords that stand well or badly, objects, and nasty texts."""
    printed = ""
    for _ in range(number(draw, 0, 4)):
        printed += line(draw, keywords_of(task)) + pick(draw, LINE_ENDS)
    if pattern := task.get("reading", {}).get("validation"):
        match = PATTERNS[pattern]
        printed = pick(draw, (f"{match} {printed}", f"{printed} {match}", f"{match}\n{printed}", printed))
    return {"exit": pick(draw, EXITS), "answer": printed}


def line(draw: st.DrawFn, keywords: list[str]) -> str:
    kind = pick(draw, ["nasty", "object", "broken", *(["keyword"] * 8 if keywords else [])])
    pools: dict[str, tuple[str, ...]] = {"nasty": NASTY, "object": OBJECTS, "broken": BROKEN_BYTES}
    if kind != "keyword":
        return pick(draw, pools[kind])
    word = pick(draw, keywords)
    other = pick(draw, [keyword for keyword in keywords if keyword != word] or keywords)
    forms = (
        word,
        word.lower(),
        word.title(),
        f"I say: {word}.",
        f"{word} or {other}",
        f"{word}, {other}",
        f"{other} {word}.",
        f"{other} {word}",
        f"{word}{other}",
        f"x{word}",
        f"{word}_1",
        f"é{word}",
        f"**{word}**",
        f"{word}: it fails",
        f"\n> {word}\n",
        f"Verdict: {word}",
        f"{word} {other.lower()}",
        f'{{"field": "{word}"}}',
        f"not {word}\r",
        word.replace(" ", "\n"),
    )
    return pick(draw, forms)


def command(draw: st.DrawFn, node: Json) -> Json:
    """What a command prints, writes to RDC_OUTPUT, and ends with."""
    names = kept(node)
    output = None
    if names:
        output = "".join(value(draw, names) for _ in range(number(draw, 0, 3)))
        if rarely(draw):
            output = output.removesuffix("\n")
    return {"exit": pick(draw, EXITS), "says": pick(draw, NASTY), "output": output}


def kept(node: Json) -> list[str]:
    """The names of the values that the edges of a node keep."""
    effects: list[Any] = [effect for edge in node["edges"] for effect in edge["effects"]]
    return sorted({effect["name"] for effect in effects if effect.get("of") == "output"})


def value(draw: st.DrawFn, names: list[str]) -> str:
    """A value in either form, rarely one that is malformed."""
    name = pick(draw, names)
    kind = pick(draw, (*["line"] * 4, *["lines"] * 4, "other", "neither", "open"))
    if kind == "line":
        return f"{name}={pick(draw, ('', *LINES))}\n"
    if kind == "lines":
        word = pick(draw, ("END_1", "-", "a=b c"))
        return f"{name}<<{word}\n{pick(draw, ('', *NASTY))}\n{word}\n"
    if kind == "other":
        return f"{pick(draw, ('other', f' {name}', f'{name} ', ''))}=x\n"
    return f"{name}<<END_1\nnever ends\nEND_1 \n" if kind == "open" else "no mark\n"


REPORTS = ("plan", "Review-1", "a.b_c", "9", "x..y", "summary.md", "R_0")


def draw_reports(draw: Any, program: Json) -> None:
    """Give some agents and parallel steps reports, and let some prompts say where these lie."""
    names = iter(REPORTS)
    tasks = [node["task"] for node in program["nodes"] if node["task"]["kind"] in {"agent", "parallel"}]
    for node in program["nodes"]:
        is_fit = node["task"]["kind"] == "agent" or (node["task"]["kind"] == "parallel" and is_plain(node["id"]))
        if node["task"] in tasks and is_fit and flag(draw) and (name := next(names, "")):
            node["task"]["report"] = name
    if not tasks or rarely(draw, 2):
        return
    program["slots"].append({"name": SLOT})
    program["folder"] = SLOT
    for agent in [agent for task in tasks for agent in task.get("entries", [task])]:
        if flag(draw):
            prompt = agent["prompt"]
            parts = [prompt] if isinstance(prompt, str) and prompt else list(prompt)
            reference = {"register": SLOT, "written": "{{folder}}", "before": BEFORE_FOLDER, "after": AFTER_FOLDER}
            agent["prompt"] = [*parts, {**reference, "missing": "no folder"}]


def is_plain(step: str) -> bool:
    """Whether the entries of a step can have reports."""
    return step.isascii() and step[:1].isalnum() and all(each.isalnum() or each in "._-" for each in step)
