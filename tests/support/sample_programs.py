"""Programs made by hand for pictures, with texts that a careless writer would let loose on Mermaid."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
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
    drawn = [draw(hostile_texts) for _ in range(24)]
    pair = (Agent(drawn[12], Text((Reference(drawn[6]),))), Agent("", text(drawn[13]), Reading((drawn[14],))))
    counted, kept = CounterTest(drawn[15], ">=", 1), Keep(drawn[6], extract=drawn[16])
    emptied = (Add(drawn[15], 1), Clear(drawn[6]), Reset(drawn[15]))
    select = Ask("select", text(drawn[3]), options=(text(drawn[22]), text("x")))
    first = to("b", PASS, label=drawn[1]), to("s", FAIL)
    made = program(
        node(f"a{drawn[0]}", Shell("bash", text("true")), *first, title=drawn[2], group="g"),
        node("b", Ask("yes_no", text(drawn[3])), to("c", PASS), to("c", FAIL), group="g/r"),
        node(
            "c",
            Agent(drawn[4], Text(), Reading((drawn[5],))),
            to("e", OutcomeTest(drawn[5])),
            to("s", SlotTest(drawn[6], "!=", drawn[7])),
            to("d"),
        ),
        node("d", Parallel(pair), to("f", OutcomeTest(drawn[14]), counted, effects=(kept,)), to("f", effects=emptied)),
        node("f", Gate(drawn[17], text(drawn[18])), to("h", OutcomeTest("approved")), to("s")),
        node("h", Tool(drawn[19], drawn[20], Text((Reference(drawn[6], drawn[21]),))), to("i")),
        node("i", select, to("e", OutcomeTest(drawn[22])), to("s")),
        node("e", End("complete", text(drawn[8]))),
        node("s", End("stop", text(drawn[9]))),
        groups=(group("g", drawn[10]), group("g/r", drawn[11], "runbook", "g")),
    )
    role: Any = draw(st.sampled_from(["", "mark", "retries"]))
    return replace(
        made,
        counters=(Counter(drawn[15], drawn[15], 0, role, drawn[1], drawn[2]),),
        slots=(Slot(drawn[6]),),
        inputs=(Input(drawn[6], "choice", drawn[8], drawn[9], (drawn[23],)),),
        limit=3,
    )
