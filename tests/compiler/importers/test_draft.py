"""Drafts as text: numbers, transitions, marks, and text that tries to leave its place."""

import pytest

from compiler.diagnostics.model import Severity
from compiler.driver import Opened, Settings, compile_opened, format_opened
from compiler.importers.draft import Draft, Item, Mark, Prose, mark_line, origin_of, print_draft
from compiler.ir.program import Input
from compiler.project.project import Project
from compiler.text.source import Source
from tests.support.hostile_texts import NASTY

COMMAND = Item("Look", code="uptime\n")
QUESTION = Item("Ready?", "Look at it.", replies="skip")


def opened(text: str) -> Opened:
    return Opened("a.runbook.md", Project("/nowhere"), Source.from_text("a.runbook.md", text))


def codes(text: str) -> list[str]:
    found = compile_opened(opened(text), Settings("rundown")).diagnostics
    return [one.code for one in found if one.severity is not Severity.NOTE]


def printed(*parts: Item | Prose, **rest: object) -> str:
    text = print_draft(Draft("Page", parts, **rest)).text  # type: ignore[arg-type]
    assert format_opened(opened(text), Settings("rundown")).result.text == text
    return text


def transitions(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith(("- YES", "- NO", "- PASS"))]


@pytest.mark.parametrize(
    ("parts", "skips"),
    [
        ((Item("A", items=(QUESTION, COMMAND, COMMAND)),), "GOTO 1.3"),
        ((Item("A", items=(QUESTION, COMMAND)), COMMAND), "GOTO 2"),
        ((Item("A", items=(QUESTION, COMMAND)), Prose("B", "text"), Item("C", items=(COMMAND, COMMAND))), "GOTO 2"),
        ((QUESTION, COMMAND, COMMAND), "GOTO 3"),
        ((Item("A", items=(QUESTION, COMMAND)),), "COMPLETE"),
        ((Item("A", items=(QUESTION, COMMAND)), Item("", name="Rollback", items=(COMMAND, COMMAND))), "COMPLETE"),
        ((COMMAND, Item("", name="Rollback", items=(QUESTION, COMMAND))), "STOP"),
        ((Item("Ready?", replies="stop"), COMMAND), "STOP"),
        ((Item("Ready?", replies="skip", skips=2), COMMAND, COMMAND, COMMAND), "GOTO 4"),
    ],
)
def test_no_leads_behind_the_skipped_items(parts: tuple[Item | Prose, ...], skips: str) -> None:
    text = printed(*parts)
    assert transitions(text) == ["- YES: CONTINUE", f"- NO: {skips}"]
    assert not set(codes(text)) - {"RD401"}


def test_a_draft_has_all_that_its_parts_declare() -> None:
    ask = Item("Which pod?", asks="POD")
    draft = Draft(
        "Page",
        (COMMAND, ask, Item("Read", code='cat "$POD"', marks=(Mark("shared", "the pod", 7),))),
        name="read",
        description="Read: a log",
        inputs=(Input("A", pattern="[a-z]+", default=""), Input("B")),
        outputs=("C",),
        origin="a b.md",
        sha256="0" * 64,
        recipe="deploy",
    )
    made = print_draft(draft)
    assert made.text == (
        '---\nname: read\ndescription: "Read: a log"\nrdc:\n  shell: strict\n  inputs:\n    A:\n      default: ""\n'
        '      pattern: "[a-z]+"\n    B: {}\n  outputs:\n    - C\n  steps:\n    "2": {asks: POD}\n---\n\n'
        f"<!-- rdc: imported from a%20b.md, recipe deploy, sha256 {'0' * 64} -->\n\n# Page\n\n## 1. Look\n\n"
        "```bash\nuptime\n```\n\n## 2. Which pod?\n\n## 3. Read\n\n"
        '<!-- rdc: check this: the pod (page line 7) -->\n\n```bash\ncat "$POD"\n```\n'
    )
    assert origin_of(made.text) == ("a b.md", "0" * 64)
    assert [made.text.split("\n")[line - 1] for line in made.lines.values()] == [
        "## 1. Look",
        "## 2. Which pod?",
        "## 3. Read",
    ]


@pytest.mark.parametrize("nasty", NASTY)
def test_titles_names_marks_and_code_do_not_leave_their_place(nasty: str) -> None:
    mark, code = Mark("condition", nasty, 3), nasty if nasty.strip() else "true"
    parts = (
        Prose(nasty if nasty.strip() else "x", "text"),
        Item(nasty, "text", f"echo x\n{code}", "bash prompt", marks=(mark,)),
    )
    text = print_draft(Draft(nasty, parts, name=nasty, description=nasty, origin=nasty, sha256="0" * 64)).text
    found = compile_opened(opened(text), Settings("rundown"))
    assert found.program is not None, found.diagnostics
    assert [node.id for node in found.program.nodes if node.id.isdecimal()] == ["1"]
    assert "RD059" in codes(text)
    assert origin_of(text) == (nasty, "0" * 64)


@pytest.mark.parametrize("words", ["a --> b", "a\nb", "--!>", "<b>", "\u202e", "- -->"])
def test_a_mark_is_one_comment(words: str) -> None:
    line = mark_line(Mark("condition", words))
    assert line.count("-->") == 1
    assert line.endswith(" -->")
    assert "\n" not in line
    assert line.count("<") == 1


def test_a_section_with_the_heading_of_a_step_gets_another_one() -> None:
    text = printed(Prose("1. Look", "text"), COMMAND)
    assert "## 1. Look (text)\n" in text
    assert codes(text) == []


def test_marks_stay_below_the_heading_in_both_layouts() -> None:
    text = "## 1. Ready?\n\n<!-- rdc: check this: a -->\n\nLook.\n\n- YES: COMPLETE\n- NO: STOP\n"
    document = opened(f"---\nrdc: {{transitions: after-header}}\n---\n\n{text}")
    formatted = format_opened(document, Settings("rundown")).result.text
    assert formatted is not None
    assert formatted.split("---\n\n")[1].split("\n\n")[:2] == ["## 1. Ready?", "<!-- rdc: check this: a -->"]
    assert formatted.index("- YES") < formatted.index("Look.")
    assert format_opened(opened(text), Settings("rundown")).result.text == text


def test_a_mark_is_no_part_of_a_prompt() -> None:
    text = "## 1. A\n\n<!-- rdc: check this: a -->\n\none\n\n<!-- rdc: check this: b -->\n\ntwo\n"
    program = compile_opened(opened(text), Settings("rundown")).program
    assert program is not None
    assert "check this" not in repr(program)
