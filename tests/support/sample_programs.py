"""Programs made by hand for pictures, with texts that a careless writer would let loose on Mermaid."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from hypothesis import strategies as st
from msgspec.structs import replace

from compiler.ir.edges import (
    Add,
    Clear,
    CounterTest,
    Edge,
    Effect,
    Keep,
    Origin,
    OutcomeTest,
    Reset,
    SlotTest,
    Test,
    Written,
)
from compiler.ir.program import Counter, Group, Input, Node, Program, Slot, SourceFile
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Reading, Shell, Tool, Verdict
from compiler.ir.texts import Reference, Text, text
from compiler.text.source import Span


@contextmanager
def unverified() -> Iterator[None]:
    """Take programs with texts in names and arguments that the verifier would refuse."""
    with patch("compiler.passes.verify"):
        yield


PASS, FAIL = OutcomeTest(Verdict.PASS), OutcomeTest(Verdict.FAIL)

HOSTILE = (
    'say "no" #quot; #35; &quot; &amp;',
    "end",
    "x];\n  evil[evil]",
    'x"]\nevil --> evil2',
    "a --> b; click a href 'x'",
    "<script>alert(1)</script><b>bold</b><br/>",
    "`code` **bold** _em_ __x1 ~~no~~",
    '`"markdown string"`',
    "1. list",
    "1) list",
    "- list",
    "+ list",
    "# heading",
    "%% comment",
    "%%{init: {'theme': 'dark'}}%%",
    "${{ secrets.TOKEN }} $$x^2$$",
    "fa:fa-car :::stop",
    "my style: x:#a;b;c;",
    "classDef x:#a;b;",
    "back\\slash \\n new line\r\nand more",
    "ﬂ°quot¶ß ﬂ°°35¶ß",
    "Été 🚀 👩‍💻 日本語 \u202eright to left\u202c \x07",
    "www.example.org https://example.org me@example.org",
    "subgraph x[y]",
    "direction LR",
    "{N} {{hexagon}} [/x/] (((x)))",
    "|pipe| -.- -->|x| ~~~",
    "@{ shape: rect }",
    "[link](https://example.org) ~one~ \\*two",
)

CHARACTERS = "aN1 \n\"'`#;:%&<>[](){}|\\/~*_-+=.,!?@$^ﬂ°¶ß🚀"

hostile_texts = st.sampled_from(HOSTILE) | st.text(CHARACTERS, max_size=40) | st.text(max_size=20)


def node(name: str, task: object, *edges: Edge, title: str = "", group: str = "") -> Node:
    """A node written on line 7."""
    return Node(name, text(title), Origin("a.runbook.md", Span(7, 1, 7, 2)), task, edges, group)  # type: ignore[arg-type]


def to(target: str, *guard: Test, label: str = "", effects: tuple[Effect, ...] = ()) -> Edge:
    """An edge."""
    return Edge(guard, effects, target, (Written(label),) if label else ())


def program(*nodes: Node, groups: tuple[Group, ...] = ()) -> Program:
    """A program that begins with the first node."""
    return Program("a", "A", (SourceFile("a.runbook.md", "0" * 64),), nodes[0].id, nodes, groups)


def group(name: str, title: str, kind: str = "step", parent: str = "") -> Group:
    """A group."""
    return Group(name, text(title), Text(), kind, parent, Origin("a.runbook.md", Span(1, 1, 1, 2)))  # type: ignore[arg-type]


def every_kind() -> Program:
    """One task of each kind, in a row."""
    agent = Agent("reviewer", text("Look"))
    tasks = (
        Shell("bash", text("true")),
        Ask("confirm", text("Sure?")),
        agent,
        Tool("github", "merge", text("{}")),
        Parallel((agent, agent), "all"),
        Gate("production", text("Somebody must look")),
    )
    steps = [node(str(index), task, to(str(index + 1))) for index, task in enumerate(tasks, 1)]
    return program(
        *steps,
        node("7", Branch(), to("COMPLETE", SlotTest("x", "==", "y")), to("STOP")),
        node("COMPLETE", End("complete", text("Good"))),
        node("STOP", End("stop", text("Bad"))),
    )


@st.composite
def hostile_programs(draw: st.DrawFn) -> Program:
    """A program in which every text is hostile, those that a front end would refuse included."""
    output = [draw(hostile_texts) for _ in range(24)]
    made = program(
        node(
            f"a{output[0]}",
            Shell("bash", text("true")),
            to("b", PASS, label=output[1]),
            to("s", FAIL),
            title=output[2],
            group="g",
        ),
        node("b", Ask("yes_no", text(output[3])), to("c", PASS), to("c", FAIL), group="g/r"),
        node(
            "c",
            Agent(output[4], Text(), Reading((output[5],))),
            to("e", OutcomeTest(output[5])),
            to("s", SlotTest(output[6], "!=", output[7])),
            to("d"),
        ),
        node(
            "d",
            Parallel(
                (Agent(output[12], Text((Reference(output[6]),))), Agent("", text(output[13]), Reading((output[14],))))
            ),
            to(
                "f",
                OutcomeTest(output[14]),
                CounterTest(output[15], ">=", 1),
                effects=(Keep(output[6], extract=output[16]),),
            ),
            to("f", effects=(Add(output[15], 1), Clear(output[6]), Reset(output[15]))),
        ),
        node("f", Gate(output[17], text(output[18])), to("h", OutcomeTest("approved")), to("s")),
        node("h", Tool(output[19], output[20], Text((Reference(output[6], output[21]),))), to("i")),
        node(
            "i",
            Ask("select", text(output[3]), options=(text(output[22]), text("x"))),
            to("e", OutcomeTest(output[22])),
            to("s"),
        ),
        node("e", End("complete", text(output[8]))),
        node("s", End("stop", text(output[9]))),
        groups=(group("g", output[10]), group("g/r", output[11], "runbook", "g")),
    )
    return replace(
        made,
        counters=(
            Counter(output[15], output[15], 0, draw(st.sampled_from(["", "mark", "retries"])), output[1], output[2]),
        ),
        slots=(Slot(output[6]),),
        inputs=(Input(output[6], "choice", output[8], output[9], (output[23],)),),
        limit=3,
    )
