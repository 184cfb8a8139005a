"""What is drawn at random: valid, of great variety, and runnable as real commands; and how it is spelled."""

import subprocess
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from tests.differential.case import Json, compiled
from tests.differential.drivers.workspace import workspace
from tests.differential.generate import agent_workflow, hostile, playbook
from tests.differential.generate.program import random_case
from tests.differential.generate.rundown import (
    COMMAND_TAGS,
    KINDS,
    SEPARATORS,
    SHOWN_TAGS,
    Drawn,
    Outcomes,
    random_runbook,
)
from tests.differential.generate.rundown_model import (
    CHILD_TEMPLATE,
    STEP_TEMPLATE,
    Goto,
    Leaf,
    Retry,
    Runbook,
    Step,
    Stop,
    Substep,
    Transitions,
    book,
)
from tests.differential.generate.rundown_text import Style, render
from tests.differential.oracles import agent_workflow as of_workflows
from tests.differential.oracles import playbook as of_playbooks
from tests.differential.oracles import rundown
from tests.differential.oracles.answers import keywords_of
from tests.differential.oracles.program import path_of, walk

pytestmark = pytest.mark.process

AnyStep = Step | Substep


def all_steps(runbook: Runbook) -> Iterator[tuple[Step, AnyStep]]:
    for each in runbook.steps:
        yield each, each
        yield from ((each, child) for child in each.children)


def jumps(node: AnyStep) -> Iterator[Goto]:
    for result in (node.transitions.on_pass, node.transitions.on_fail):
        found = result.then if isinstance(result, Retry) else result
        if isinstance(found, Goto):
            yield found


# --- Everything is valid and runs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_random_runbooks_of_a_kind_are_valid(kind: str) -> None:
    """The compiler finds no error in them (V2 to V10); `test_targets` compiles those of all kinds."""
    for seed in range(20):
        compiled(random_runbook(seed, kind).documents())


@pytest.mark.share(8)
@pytest.mark.parametrize("shell", ["bash", "sh"])
@pytest.mark.parametrize("name", hostile.SNIPPETS)
def test_a_snippet_calls_once_and_keeps_the_outcome(name: str, shell: str) -> None:
    """Commands that are run as they stand give what they should, to both shells."""
    leaf = hostile.snippet(name, shell)
    for passed in (True, False):
        case = rundown.case_of(Drawn(Runbook((Step("1", leaf),)), outcomes=Outcomes((passed,))))
        with workspace(case, path_of(case)) as prepared:
            known = {"RDC_ATTEMPT": "1", "RDC_RUN_ID": "x"}
            done = subprocess.run(
                [shell, "-c", rundown.command("", "1", leaf)],
                cwd=prepared.folder,
                env={**prepared.environment, **known},
                capture_output=True,
                check=False,
            )
            prepared.check_calls(done.stderr.decode())
            assert (done.returncode == 0) == passed, done.stderr


# --- Everything occurs ------------------------------------------------------------------------------------------------


def facts(value: Any, name: str = "") -> Iterator[str]:
    """What a value is made of: texts, flags and types, each with the class and field that it stands in."""
    if is_dataclass(value):
        own = type(value).__name__
        yield f"{name}: {own}"
        for field in fields(value):
            yield from facts(getattr(value, field.name), f"{own}.{field.name}")
    elif isinstance(value, tuple):
        yield from (fact for part in value for fact in facts(part, name))
    elif isinstance(value, dict):
        yield from (f"{name} {key}" for key in value)
        yield from (fact for part in value.values() for fact in facts(part, name))
    else:
        yield f"{name} {value}"


def facts_of_jumps(runbook: Runbook) -> Iterator[str]:
    """The form of each jump, and from where; what each kind of step does on each outcome."""
    for whole, node in all_steps(runbook):
        kind = type(node.body).__name__ if isinstance(node, Step) else f"substep {type(node.body).__name__}"
        for word, result in (("PASS", node.transitions.on_pass), ("FAIL", node.transitions.on_fail)):
            found = result.then if isinstance(result, Retry) else result
            yield f"{kind}, {word}: {'RETRY ' if isinstance(result, Retry) else ''}{type(found).__name__}"
        if node.transitions.optimistic:
            yield f"{kind}, PASS ANY"
        for goto in jumps(node):
            names = [_form(name) for name in (goto.step, goto.child) if name is not None]
            where = "within" if goto.step in {None, whole.ident} else "from outside"
            yield f"jump {' '.join(['NEXT'] * goto.advance + ['.'.join(names)] * bool(names))} {where}"


def _form(ident: str) -> str:
    return ident if ident in {STEP_TEMPLATE, CHILD_TEMPLATE} else "number" if ident.isdecimal() else "name"


def facts_of_path(drawn: Drawn) -> Iterator[str]:
    taken = rundown.walk(drawn)
    yield f"end {taken.end[0] if taken.end else 'none'}"
    for jump in taken.jumps:
        place = "from a prompt in a list" if "/" in jump.waiting else "from a prompt"
        yield f"jump {place if jump.waiting else 'after a STOP'}"
    for visit, passed in taken.visits:
        beyond = visit.beyond
        yield f"{'command' if visit.is_command else 'prompt'} {'pass' if passed else 'fail'}"
        yield f"runbook {visit.label.count('.runbook.md')} deep"
        shown = {
            "the same runbook again": "~2/" in visit.label,
            "third {N}": (visit.step_instance or 0) > 2,
            "third {n}": (visit.substep_instance or 0) > 2,
            "third attempt": visit.attempt > 2,
            "a masked value": any("***" in value for _, value in beyond.sees),
            "a nested command sees variables": beyond.sees and visit.file,
            "a command that fails writes values": beyond.values and not passed,
            "a command writes what is malformed": beyond.is_broken,
            "a timeout is reached": beyond.hangs,
            "a delay is waited": beyond.waits,
            "a prompt shows values": beyond.shown,
        }
        yield from (name for name, holds in shown.items() if holds)


KINDS_OF_STEPS = ("Leaf", "Runbooks", "Substeps", "substep Leaf", "substep Runbooks")
ACTIONS = ("Continue", "Complete", "Stop", "Goto")
FORMS = {
    "NEXT": ["within"],
    **{f"{next_}{{N}}": ["within", "from outside"] for next_ in ("", "NEXT ")},
    **{f"{{N}}.{child}": ["within"] for child in ("number", "name")},
    **{f"{next_}{step}.{{n}}": ["within", "from outside"] for next_ in ("", "NEXT ") for step in ("number", "name")},
    **{name: ["within", "from outside"] for name in ("{N}.{n}", "NEXT {N}.{n}", "number", "name")},
    **{f"{step}.{child}": ["within", "from outside"] for step in ("number", "name") for child in ("number", "name")},
}
OF_RUNBOOKS = {
    *(
        f"{kind}, {word}: {again}{done}"
        for kind in KINDS_OF_STEPS
        for word in ("PASS", "FAIL")
        for again in ("", "RETRY ")
        for done in ACTIONS
    ),
    *(f"{kind}, PASS ANY" for kind in ("Leaf", "Runbooks", "Substeps", "substep Runbooks")),
    *(f"jump {form} {place}" for form, places in FORMS.items() for place in places),
    *(f"Style.{field.name} True" for field in fields(Style) if field.name != "separator"),
    *(f"Style.separator {text}" for text in SEPARATORS),
    *(f"Drawn.main {name}" for name in hostile.MAINS),
    *(f"Drawn.files {path}" for path in hostile.PATHS),
    *(f"Runbook.name {name}" for name in hostile.NAMES),
    *(f"Step.title {title}" for title in hostile.TITLES),
    *(f"{place} {text}" for place in ("Runbook.description", "Leaf.prompt") for text in hostile.PROMPTS),
    *(f"Stop.message {message}" for message in hostile.MESSAGES),
    *(f"Leaf.code {code}" for code in (*hostile.CODES, *(code for code, _ in hostile.SNIPPETS.values()))),
    *(f"Leaf.info {tag}" for tag in (*COMMAND_TAGS, *SHOWN_TAGS)),
    *(f"Input.type {kind}" for kind in ("string", "number", "boolean", "choice")),
    *("Input.required False", "Input.required True", "Input.default None"),
    *(f"Declared.outputs {name}" for name in hostile.VARIABLES),
    *(f"Declared.secrets {name}" for name in hostile.SECRETS),
    *(
        "Settings.timeout 90",
        "Settings.delay 1",
        "Settings.backoff 2",
        "Settings.env GREETING",
        "Settings.asks version",
    ),
    *("Settings.expire 3600", "Settings.visits 1", "Settings.then None"),
    *("end COMPLETE", "end STOP", "third {N}", "third {n}", "third attempt", "the same runbook again"),
    *(f"{kind} {outcome}" for kind in ("command", "prompt") for outcome in ("pass", "fail")),
    *(f"runbook {depth} deep" for depth in range(4)),
    *("a masked value", "a nested command sees variables", "a command that fails writes values"),
    *("a command writes what is malformed", "a timeout is reached", "a delay is waited", "a prompt shows values"),
    *("jump after a STOP", "jump from a prompt", "jump from a prompt in a list"),
}


@pytest.mark.soak
def test_random_runbooks_have_everything() -> None:
    missing = set(OF_RUNBOOKS)
    for seed in range(4000):
        drawn = random_runbook(seed)
        own = (fact for runbook in (drawn.runbook, *drawn.files.values()) for fact in facts_of_jumps(runbook))
        missing -= {*facts(drawn), *own, *facts_of_path(drawn)}
        if not missing:
            break
    assert sorted(missing) == []


NAMED = {"kind", "question", "check", "of"}
"""Keys in the JSON of a program whose values tell what it has."""


def facts_of_program(value: Any) -> Iterator[str]:
    """The keys that stand anywhere in a program with something behind them, and the values of some."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from [f"{key} {part}" if key in NAMED else key] if part else []
            yield from facts_of_program(part)
    elif isinstance(value, list):
        yield from (fact for part in value for fact in facts_of_program(part))


def facts_of_program_path(program: Json, taken: Any) -> Iterator[str]:
    tasks = {node["id"]: node["task"] for node in program["nodes"]}
    yield f"end {taken.end[0] if taken.end else 'none'}"
    steps = [visit.step for visit in taken.visits]
    shown = {
        "end by the limit": taken.end and "the limit of" in taken.end[1],
        "a step twice": len(set(steps)) < len(steps),
        "a long path": len(steps) > 5,
        "outputs": any(visit.values for visit in taken.visits),
    }
    yield from (name for name, holds in shown.items() if holds)
    for visit in taken.visits:
        task = tasks[visit.step]
        word = "a keyword" if visit.word in keywords_of(task) else visit.word
        yield f"{task['kind']} {'an option' if task.get('question') == 'select' else word}"


OF_PROGRAMS = {
    *(f"kind {kind}" for kind in ("shell", "ask", "agent", "tool", "parallel", "gate", "branch", "end")),
    *(f"question {kind}" for kind in ("pass_fail", "yes_no", "confirm", "input", "select", "value")),
    *(f"kind {kind}" for kind in ("outcome", "counter", "slot", "set", "add", "at_least", "reset", "clear", "keep")),
    *("of output", "extract", "before", "after", "missing", "variables", "keywords", "check all", "check any"),
    *("excused", "failing", "unanimous", "groups", "timeout", "delay", "context", "contexts", "optional", "artifact"),
    *("items", "settles"),
    *(f"{kind} {word}" for kind in ("agent", "parallel") for word in ("pass", "fail", "a keyword", "none")),
    *(f"{kind} {word}" for kind in ("agent", "parallel") for word in ("invalid", "ambiguous", "failed")),
    *(f"{kind} {word}" for kind in ("shell", "tool") for word in ("pass", "fail")),
    *("ask yes", "ask no", "ask an option", "gate approved", "gate rejected", "outputs", "expire"),
    *("end COMPLETE", "end STOP", "end by the limit", "a step twice", "a long path"),
}


@pytest.mark.soak
def test_random_programs_have_everything_and_end() -> None:
    missing = set(OF_PROGRAMS)
    for seed in range(400):
        case = random_case(seed)
        found = {*facts_of_program(case.program), *facts_of_program_path(case.program, walk(case))}
        assert "end none" not in found
        missing -= found
        if not missing:
            break
    assert sorted(missing) == []


def test_random_playbooks_have_everything() -> None:
    drawn = [playbook.random_playbook(seed) for seed in range(60)]
    steps = [each for one in drawn for each in one.book.every_step]
    kinds = {each.elicit.kind for each in steps if each.elicit} | {each.prompt.scheme for each in steps if each.prompt}
    assert kinds == {"input", "confirm", "select", "file", "library", "mcp", "variable", "http"}
    assert any(each.tool for each in steps)
    assert any(each.output and each.output.extract for each in steps)
    assert any(not each.label for each in steps)
    assert any(len({each.label for each in one.book.steps}) < len(one.book.steps) for one in drawn)
    ends = [of_playbooks.walk(one).end for one in drawn]
    assert {end and end[0] for end in ends} == {"COMPLETE", "STOP"}
    assert any(end and end[1] for end in ends)


def test_random_workflows_have_everything() -> None:
    drawn = [agent_workflow.random_workflow(seed) for seed in range(80)]
    steps = [each for one in drawn for each in one.flow.steps]
    assert any(each.human for each in steps)
    assert {each.check for each in steps if each.entries} == {"all", "any"}
    assert any(each.report and each.report.validation for each in steps)
    assert any(each.end and each.conditions for each in steps)
    assert any(not (each.end or each.next or each.conditions) for each in steps)
    taken = [of_workflows.walk(one) for one in drawn]
    words = {visit.word for one in taken for visit in one.visits}
    assert {"TASK_DONE", "none", "invalid", "ambiguous", "failed", "approved", "rejected"} <= words
    ends = [one.end for one in taken if one.end]
    assert {end[0] for end in ends} == {"COMPLETE", "STOP"}
    assert any("limit" in end[1] for end in ends)
    prompts = "".join(call.given for one in taken for visit in one.visits for call in visit.calls)
    assert "and why this step runs again:" in prompts
    assert "said:\n\n" in prompts


# --- Spellings --------------------------------------------------------------------------------------------------------


def test_default_layout() -> None:
    runbook = Runbook((Step("1", Leaf("Do it.", "true", "sh"), Transitions(on_fail=Stop('a "b" \\')), "Try"),), "Title")
    lines = ["# Title", "## 1. Try", "Do it.", "```sh\ntrue\n```", '- FAIL: STOP "a \\"b\\" \\\\"']
    assert render(runbook) == "\n\n".join(lines) + "\n"


SHORT = Style(short_retry=True, bare_messages=True, bare_next=True)
SPELLINGS: list[tuple[Style, str, list[str]]] = [
    (Style(), "1 PASS: CONTINUE | .1 FAIL: CONTINUE", ["- PASS ALL: CONTINUE", "### 1.1", "- FAIL: CONTINUE"]),
    (
        Style(late_transitions=True, omit_modifiers=True),
        "1 PASS ANY: CONTINUE, FAIL: STOP | .1",
        ["### 1.1", "- PASS ANY: CONTINUE", "- FAIL ALL: STOP"],
    ),
    (Style(late_transitions=True), "1 PASS: CONTINUE | .1 @a", ["- PASS ALL: CONTINUE", "### 1.1"]),
    (Style(omit_modifiers=True), "1 PASS ANY: CONTINUE, FAIL: COMPLETE | .1", ["- FAIL: COMPLETE\n"]),
    (Style(), "1 PASS ANY: CONTINUE, FAIL: COMPLETE | .1", ["- FAIL ALL: COMPLETE\n"]),
    (Style(omit_defaults=True), "1 PASS: CONTINUE, FAIL: STOP | .1", ["PASS ALL: CONTINUE"]),
    (SHORT, "1 FAIL: RETRY 1 STOP", ["- FAIL: RETRY\n"]),
    (SHORT, "1 FAIL: RETRY 2 STOP", ["- FAIL: RETRY 2\n"]),
    (SHORT, "1 FAIL: RETRY 1 GOTO 2", ["- FAIL: RETRY GOTO 2\n"]),
    (SHORT, "1 FAIL: RETRY 2 STOP two words", ['- FAIL: RETRY 2 "two words"\n']),
    (SHORT, "1 FAIL: RETRY 2 STOP Oops", ["- FAIL: RETRY 2 Oops\n"]),
    (SHORT, "{N} FAIL: RETRY 1 GOTO NEXT", ["- FAIL: RETRY NEXT\n"]),
    (SHORT, "1 FAIL: STOP GOTO", ['STOP "GOTO"']),  # a reserved word
    (
        Style(yes_no=True, fail_first=True, crlf=True),
        "1 FAIL: STOP, PASS: CONTINUE",
        ["- NO: STOP\r\n", "- YES: CONTINUE\r\n"],
    ),
]
"""Parts of the text of a runbook, in their order."""


@pytest.mark.parametrize(("style", "runbook", "parts"), SPELLINGS)
def test_a_style_chooses_the_spelling(style: Style, runbook: str, parts: list[str]) -> None:
    text = render(book(runbook), style)
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


@pytest.mark.parametrize("runbook", ["1 PASS: CONTINUE, FAIL: STOP", "1 PASS: CONTINUE, FAIL: COMPLETE | .1"])
def test_defaults_are_left_out(runbook: str) -> None:
    assert "PASS" not in render(book(runbook), Style(omit_defaults=True))
