"""What inputs, agents, tools, commands and people say stays text: on every target, in its logs and in its pictures."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings

from backends.picture.looks import with_legend
from backends.picture.model import picture
from backends.registry import load
from compiler.ir.features import Feature
from compiler.ir.program import Program
from tests.differential.case import Case, Json
from tests.differential.drivers import DRIVERS
from tests.differential.drivers.process import Operated
from tests.differential.drivers.workspace import Workspace, workspace
from tests.differential.generate.program import ALL, COMMAND, cases
from tests.differential.oracles.program import walk
from tests.support import graphviz, mermaid
from tests.support.hostile_texts import EVIL, LINES, NASTY, is_unsafe
from tests.support.mermaid import Mermaid
from tests.support.program_json import edge, from_json, node, program_of
from tests.support.text_form import to_text_form

pytestmark = pytest.mark.tool

TEXTS = {
    "everything": "\n".join([*NASTY, *EVIL, "the end"]),
    "a line": " ".join([*LINES, *EVIL, "the end"]),
    "nul": "a\0b\0",
    "a megabyte": "it's $(x) é " * 60_000,
}
RUNS = [
    *((driver, name) for driver in ("python", "make") for name in TEXTS),
    *(("engine", name) for name in TEXTS if name != "a megabyte"),
    *((driver, "everything") for driver in ("python-waiting", "make-waiting", "engine")),
]
"""Act has no protected environments, and the gate is one. GitHub itself takes no inputs of a megabyte."""


def reference(slot: str) -> Json:
    return {"register": slot, "written": f"{{{slot}}}"}


def carrier(text: str) -> Case:
    """A program that takes a text in from all sides, and sends it to all sides."""
    agent = {"kind": "agent", "agent": "", "prompt": ["<", reference("body"), ">"]}
    tool = {"kind": "tool", "connection": "c", "tool": "t", "arguments": ['{"a": "', reference("a"), '"}']}
    shell = {"kind": "shell", "interpreter": "sh", "command": [f"{COMMAND}3"], "prompt": [reference("t")]}
    asked = {"kind": "ask", "question": "input", "prompt": ["? ", reference("v")]}
    select: Json = {"kind": "ask", "question": "select", "prompt": "", "options": ["a", ["b", reference("r")]]}
    parallel = {"kind": "parallel", "entries": [{**agent, "prompt": [reference(slot)]} for slot in ("t", "r")]}
    gate = {"kind": "gate", "gate": "g", "reason": [reference("p")]}
    found = program_of(
        node("1", agent, edge("2", keep("a"))),
        node("2", tool, edge("3", keep("t"))),
        node("3", shell, edge("4", {**keep("v"), "of": "output", "name": "v"}), variables=variables("body", "t")),
        node("4", asked, edge("5", keep("r"))),
        node("5", select, edge("6")),
        node("6", parallel, edge("7", keep("p"))),
        node("7", gate, edge("end")),
        name="program",
        slots=[{"name": name} for name in ("body", "a", "t", "v", "r", "p")],
        inputs=[{"name": "body", "type": "text"}],
        registers=[],
    )
    for each in found["nodes"]:
        each["title"] = ["title ", reference("body")]
    found["nodes"][-1]["task"]["message"] = [reference("body"), reference("v")]
    clean = text.replace("\0", "")
    answer = {"exit": 0, "answer": text}
    replies: dict[str, list[Json]] = {
        "1": [answer],
        "2": [answer],
        "3": [{"exit": 0, "says": "", "output": f"v<<THE_END_OF_IT\n{text}\nTHE_END_OF_IT\n"}],
        "4": [{"reply": clean.replace("\r\n", "\n")}],  # as a form of GitHub gives it
        "5": [{"reply": 1}],
        "6": [{"entries": [answer, answer]}],
        "7": [{"reply": True}],
    }
    return Case(found, {"body": clean}, replies)


def keep(slot: str) -> Json:
    return {"kind": "keep", "slot": slot}


def variables(*slots: str) -> list[Json]:
    return [{"name": f"V_{slot}", "register": slot} for slot in slots]


@pytest.mark.share(9)
@pytest.mark.parametrize(("driver", "name"), RUNS)
def test_a_text_stays_text(driver: str, name: str) -> None:
    case = carrier(TEXTS[name])
    taken = walk(case)
    assert taken.end
    assert taken.end[0] == "COMPLETE"
    if DRIVERS[driver].missing() or not DRIVERS[driver].takes(case, taken):
        pytest.skip(f"{DRIVERS[driver].backend} does not carry all of it")
    with workspace(case, taken) as prepared:
        assert DRIVERS[driver].compare(prepared)
        assert_inert(prepared)


def assert_inert(prepared: Workspace) -> None:
    """Nothing was touched, and nothing that was printed moves a cursor or turns a line around."""
    assert [path.name for path in prepared.folder.rglob("*") if path.name in {"x", "PWNED"}] == []
    printed = {character for text in prepared.printed for character in text}
    assert sorted(character for character in printed if is_unsafe(character)) == []


@pytest.mark.parametrize("driver", ["python", "make"])
def test_an_input_with_nul_is_refused_before_anything_runs(driver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = carrier("x")
    taken = walk(case)
    if DRIVERS[driver].missing() or not DRIVERS[driver].takes(case, taken):
        pytest.skip(f"{DRIVERS[driver].backend} does not carry all of it")
    with workspace(Case(case.program, {"body": "a\0b\n"}, case.replies), taken) as prepared:
        monkeypatch.setattr(Operated, "check", lambda _program, done: done.code == 2)
        assert DRIVERS[driver].compare(prepared)
        assert prepared.lines() == []
        assert "NUL" in prepared.printed[-1]


@pytest.fixture(scope="module")
def parser() -> Iterator[Mermaid]:
    with mermaid.running() as found:
        yield found


def evil(text: str) -> Program:
    """The carrier with a text in each place where a document has one."""
    case = carrier("x")
    case.program["inputs"] = []
    for each in case.program["nodes"]:
        each["title"] = text
        for key in ("prompt", "reason", "message"):
            if key in each["task"]:
                each["task"][key] = text
    case.program["nodes"][4]["task"]["options"] = [f"a {text}", f"b {text}"]
    case.program["nodes"][4]["edges"].insert(0, edge("6", guard=({"kind": "outcome", "word": f"a {text}"},)))
    reading = {"keywords": ["]]]", '"; x', "$(touch x)"], "validation": "a.b"}
    case.program["nodes"][0]["task"] |= {"prompt": text, "reading": reading}
    case.program["nodes"][0]["edges"].insert(0, edge("2", guard=({"kind": "outcome", "word": "]]]"},)))
    return from_json(case.text)


@pytest.mark.parametrize("name", ["everything", "a line"])
def test_pictures_show_texts_as_texts(name: str, parser: Mermaid) -> None:
    shown = evil(TEXTS[name])
    mermaid.assert_same(parser.read(mermaid.emitted(shown)), with_legend(picture(shown)))
    graphviz.assert_same(graphviz.drawn(graphviz.emitted(shown)), graphviz.complete(shown))


@settings(max_examples=10, suppress_health_check=list(HealthCheck))
@given(case=cases(ALL - {Feature.INPUTS}))
def test_pictures_of_random_programs_show_texts_as_texts(case: Case, parser: Mermaid) -> None:
    shown = from_json(case.text)
    mermaid.assert_same(parser.read(mermaid.emitted(shown)), with_legend(picture(shown)))
    graphviz.assert_same(graphviz.drawn(graphviz.emitted(shown)), graphviz.complete(shown))


@pytest.mark.share(2)
@pytest.mark.parametrize("name", TEXTS)
def test_listings_say_texts_as_they_are(name: str) -> None:
    shown = evil(TEXTS[name])
    text = load("json").emit(shown, {}).text
    assert text
    listings = [text, to_text_form(shown), *(load(target).emit(shown, {}).text or "" for target in ("mermaid", "dot"))]
    assert sorted(character for listing in listings for character in set(listing) if is_unsafe(character)) == []
