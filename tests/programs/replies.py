"""Random replies for the units of a program: what its commands, agents, tools and people do."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from .alphabet import keywords_of
from .cases import Json
from .texts import LINES, NASTY, OBJECTS, PATTERNS

BROKEN_BYTES = ("\udcff\udcfe bytes", "cut off \udce2\udc82", "\udcc3(")
"""Bytes that are no UTF-8, as `surrogateescape` has them."""

_flags = st.booleans()
_exits = st.sampled_from([0] * 20 + [1, 3, 255])
_line_ends = st.sampled_from(["\n"] * 4 + ["\r\n", "\n\n", "\r", " "])
_nasty = st.sampled_from(NASTY)


@st.composite
def replies(draw: st.DrawFn, node: Json) -> list[Json]:
    """What the visits of a unit find, one after the other."""
    return draw(st.lists(reply(node), min_size=1, max_size=4))


@st.composite
def reply(draw: st.DrawFn, node: Json) -> Json:
    """What one visit finds."""
    task = node["task"]
    if task["kind"] == "shell":
        return draw(command(node))
    if task["kind"] in {"agent", "tool"}:
        return draw(answer(task))
    if task["kind"] == "parallel":
        return {"entries": [draw(answer(agent)) for agent in task["entries"]]}
    if task.get("question") == "input":
        return {"reply": draw(_nasty)}
    if task.get("question") == "select":
        return {"reply": draw(st.integers(0, 3))}
    return {"reply": draw(_flags)}


@st.composite
def answer(draw: st.DrawFn, task: Json) -> Json:
    """What an agent or a tool prints: lines of keywords that stand well or badly, objects, and nasty texts."""
    said = ""
    for _ in range(draw(st.integers(0, 4))):
        said += draw(line(keywords_of(task))) + draw(_line_ends)
    if pattern := task.get("reading", {}).get("validation"):
        match = PATTERNS[pattern]
        said = draw(st.sampled_from((f"{match} {said}", f"{said} {match}", f"{match}\n{said}", said)))
    return {"exit": draw(_exits), "answer": said}


@st.composite
def line(draw: st.DrawFn, keywords: list[str]) -> str:
    """A line of an answer, or several."""
    kind = draw(st.sampled_from(["nasty", "object", "broken", *(["keyword"] * 8 if keywords else [])]))
    pools: dict[str, tuple[str, ...]] = {"nasty": NASTY, "object": OBJECTS, "broken": BROKEN_BYTES}
    if kind != "keyword":
        return draw(st.sampled_from(pools[kind]))
    word, other = draw(st.sampled_from(keywords)), draw(st.sampled_from(keywords))
    forms = (
        word,
        word.lower(),
        word.title(),
        f"I say: {word}.",
        f"{word} or {other}",
        f"{word}{other}",
        f"x{word}",
        f"{word}_1",
        f"é{word}",
        f"**{word}**",
        f"{word} {other.lower()}",
        f'{{"field": "{word}"}}',
        f"not {word}\r",
        word.replace(" ", "\n"),
    )
    return draw(st.sampled_from(forms))


@st.composite
def command(draw: st.DrawFn, node: Json) -> Json:
    """What a command prints, writes to RDC_OUTPUT, and ends with."""
    names = kept(node)
    output = None
    if names:
        output = "".join(draw(value(names)) for _ in range(draw(st.integers(0, 3))))
        if draw(st.sampled_from([False] * 5 + [True])):
            output = output.removesuffix("\n")
    return {"exit": draw(_exits), "says": draw(_nasty), "output": output}


def kept(node: Json) -> list[str]:
    """The names of the values that the edges of a node keep."""
    effects: list[Any] = [effect for edge in node["edges"] for effect in edge["effects"]]
    return sorted({effect["name"] for effect in effects if effect.get("of") == "value"})


@st.composite
def value(draw: st.DrawFn, names: list[str]) -> str:
    """A value in either form, rarely one that is malformed."""
    name = draw(st.sampled_from(names))
    forms = st.sampled_from(["line"] * 4 + ["lines"] * 4 + ["other", "neither", "open"])
    kind = draw(forms)
    if kind == "line":
        return f"{name}={draw(st.sampled_from(('', *LINES)))}\n"
    if kind == "lines":
        word = draw(st.sampled_from(("END_1", "-", "a=b c")))
        return f"{name}<<{word}\n{draw(st.sampled_from(('', *NASTY)))}\n{word}\n"
    if kind == "other":
        return f"{draw(st.sampled_from(('other', f' {name}', f'{name} ', '')))}=x\n"
    return f"{name}<<END_1\nnever ends\nEND_1 \n" if kind == "open" else "no mark\n"
