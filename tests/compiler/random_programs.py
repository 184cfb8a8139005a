"""Random valid programs whose steps lead anywhere, with counters, for analyses and passes."""

from hypothesis import strategies as st

from compiler.ir.edges import Add, AtLeast, CounterTest, Edge, Effect, Origin, OutcomeTest, Reset, Set, Test
from compiler.ir.program import Counter, Group, Node, Program, SourceFile
from compiler.ir.tasks import Branch, End, Shell, Verdict
from compiler.ir.texts import Text, text
from compiler.text.source import Span

PLACE = Origin("x.runbook.md", Span(1, 1, 1, 2))
PASS, FAIL = OutcomeTest(Verdict.PASS), OutcomeTest(Verdict.FAIL)

COUNTERS = ("a", "b", "c")
NAMES = ("1", "2", "3", "4", "5")
SCOPES = {"a": "g", "b": "g", "c": ""}

_counters = st.sampled_from(COUNTERS)
_numbers = st.integers(0, 3)
_tests = st.builds(CounterTest, _counters, st.sampled_from(["<", ">=", "="]), _numbers)
EFFECTS: st.SearchStrategy[Effect] = st.one_of(
    st.builds(Set, _counters, _numbers),
    st.builds(Add, _counters, st.sampled_from([1, 2])),
    st.builds(Add, _counters, _counters),
    st.builds(AtLeast, _counters, _numbers),
    st.just(Reset("g")),
)


@st.composite
def edges(draw: st.DrawFn, targets: tuple[str, ...], outcomes: tuple[Test, ...]) -> Edge:
    """An edge that may ask for an outcome and for counters."""
    guard = (*draw(st.lists(st.sampled_from(outcomes), max_size=1) if outcomes else st.just([])),)
    guard += tuple(draw(st.lists(_tests, max_size=2)))
    return Edge(guard, tuple(draw(st.lists(EFFECTS, max_size=2))), draw(st.sampled_from(targets)))


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Valid programs: steps lead anywhere, branches only to what stands below them."""
    nodes = []
    for place, name in enumerate(NAMES):
        is_branch = draw(st.booleans())
        below = (*NAMES[place + 1 :], "END")
        targets = below if is_branch else (*NAMES, "END")
        chosen = draw(st.lists(edges(targets, () if is_branch else (PASS, FAIL)), max_size=4))
        last = Edge((), tuple(draw(st.lists(EFFECTS, max_size=1))), draw(st.sampled_from(targets)))
        task = Branch() if is_branch else Shell("sh", text("true"))
        nodes.append(Node(name, Text(), PLACE, task, (*chosen, last), draw(st.sampled_from(["", "g"]))))
    nodes.append(Node("END", Text(), PLACE, End("complete"), ()))
    counters = tuple(Counter(name, scope, draw(_numbers)) for name, scope in SCOPES.items())
    group = Group("g", Text(), Text(), "step", "", PLACE)
    return Program("x", "X", (SourceFile("x", "0"),), "1", tuple(nodes), (group,), counters)
