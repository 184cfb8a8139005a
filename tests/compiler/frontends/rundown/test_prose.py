"""The option `prose`: sections that are text, what becomes of them, and where rdc advises to use it."""

import json
from pathlib import Path

import pytest

from compiler.driver import Compilation, compile_file
from compiler.frontends.rundown.parse.document import parse
from compiler.text.source import Source
from tests.support.documents import compiled, finding, findings
from tests.support.text_form import to_text_form

BUILD = "## 1. Build\n\n```bash\nmake\n```\n\n"
TEST = "## 2. Test\n\nLook.\n"
SECTION = (
    "## Prerequisites\nAn account, and:\n### Tools you need\n#### Git\n```python\nprint()\n```\n"
    "- PASS the first test\n```bash\ngit --version\n```\nMore text.\n\n"
)


def document(prose: str, *parts: str) -> str:
    return f"---\nrdc: {{prose: {prose}}}\n---\n\n" + "".join(parts)


def helps(compilation: Compilation, code: str) -> list[str]:
    return [item.help for item in compilation.diagnostics if item.code == code]


INNER = "## 1. A\n\nDo.\n\n### Notes\n\nx\n\n### 1.1 B\n\nDo.\n\n"
OF_PROJECT = {"rdc.toml": 'prose = ["Prerequisites", "Troubleshooting"]\n'}
NO_LISTS = ("Prerequisites", "{a: b}", "[5]", "['']", "[[a]]", "", json.dumps([str(number) for number in range(101)]))
CASES: list[tuple[str, dict[str, str], list[str]]] = [
    (document("[Prerequisites]", SECTION, BUILD, TEST), {}, []),
    (document("[Prerequisites]", BUILD, SECTION, TEST), {}, []),
    (document("[Prerequisites]", BUILD, TEST, SECTION), {}, []),
    (document("[Notes]", INNER, TEST), {}, []),
    (document('["Before  you start"]', "##   Before you   start ##\n\nText.\n\n", BUILD), {}, []),
    *((document(value, BUILD), {}, ["RD013 2:7"]) for value in NO_LISTS),
    # a project, which a document overrides, and an included document
    (BUILD + SECTION, OF_PROJECT, []),
    (BUILD, OF_PROJECT, []),
    (BUILD, {"rdc.toml": "prose = 5\n"}, ["RD501 1:1"]),
    (document("[]", BUILD, "- FAIL: GOTO Notes\n\n## Notes\n\nText.\n"), {"rdc.toml": 'prose = ["Notes"]\n'}, []),
    (
        document("[]", "## 1. A\n\n- a.runbook.md\n"),
        {"a.runbook.md": document("[Notes]", BUILD, "## Notes\n\nText.\n")},
        [],
    ),
    # what is not ignored
    (document("[Notes]", BUILD, "## Notes\n\n- PASS: STOP x\n"), {}, ["RD043 13:3"]),
    (document("[Notes]", BUILD, "## Notes\n\n```sh\nls\n"), {}, ["RD045 13:1"]),
    (document("[Notes]", BUILD, "## Notes\n\n```sh\nls\n\n## 2. Test\n\n```sh\nls\n```\n"), {}, ["RD049 13:1"]),
]


@pytest.mark.parametrize(("text", "files", "expected"), CASES)
def test_findings(tmp_path: Path, text: str, files: dict[str, str], expected: list[str]) -> None:
    compilation = compiled(tmp_path, text, files)
    assert findings(compilation) == expected
    if SECTION in text or INNER in text:
        assert compilation.program
        steps = {node.id for node in compilation.program.nodes} - {"STOP", "COMPLETE"}
        assert steps == ({"1.1", "2"} if INNER in text else {"1", "2"} if TEST in text else {"1"})


def test_a_program_is_the_same_with_and_without_sections_of_prose(tmp_path: Path) -> None:
    def printed(text: str) -> str:
        program = compiled(tmp_path, text).program
        assert program
        return "\n".join(line for line in to_text_form(program).splitlines() if "source" not in line)

    with_prose = document("[Prerequisites]", BUILD, TEST, SECTION)
    assert printed(with_prose) == printed(document("[]", BUILD, TEST, ""))


def test_prose_above_the_first_step_is_part_of_the_description() -> None:
    tree = parse(Source.from_text("a.runbook.md", document("[Prerequisites]", "# T\n\nIt builds.\n\n", SECTION, BUILD)))
    assert tree.runbook
    assert tree.runbook.description == "It builds.\n\n" + SECTION.rstrip()


@pytest.mark.parametrize("name", ["prerequisites", "Prerequisite", "Prerequisites:", "## Prerequisites"])
def test_a_name_is_the_whole_heading_in_the_same_letters(tmp_path: Path, name: str) -> None:
    compilation = compiled(tmp_path, document(json.dumps([name]), BUILD, "## Prerequisites\n\nText.\n"))
    assert {"RD119 2:15", "RD401 11:4"} <= set(findings(compilation))


def test_a_name_that_is_almost_a_heading_is_corrected(tmp_path: Path) -> None:
    text = document("[notes, Prerequisits, Elsewhere]", BUILD, "## Notes for you\n\nx\n\n## Prerequisites\n\nx\n")
    found = helps(compiled(tmp_path, text), "RD119")
    assert [item.split("?")[0] for item in found[:2]] == [
        "did you mean `Notes for you`",
        "did you mean `Prerequisites`",
    ]
    assert "did you mean" not in found[2]


def test_a_goto_cannot_lead_to_prose_and_is_told_why(tmp_path: Path) -> None:
    compilation = compiled(
        tmp_path, document("[Notes for you]", BUILD, "- FAIL: GOTO Notes\n\n## Notes for you\n\nText.\n")
    )
    assert findings(compilation) == ["RD201 11:14"]
    assert "text by the option `prose`" in compilation.diagnostics[0].help


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## 1. A\n\n- FAIL: GOTO R\n\n### 1.1 B\n\n- FAIL: STOP\n\n## R\n\nUndo.\n\n- PASS: STOP\n", [True]),
        ("## 1. A\n\n- FAIL: GOTO R\n\n### 1.1 B\n\n- FAIL: STOP\n\n## R\n\n### R.1 C\n\n### R.2 D\n", [True, False]),
        ("## 1. A\n\n- FAIL: GOTO R.2\n\n### 1.1 B\n\n- FAIL: STOP\n\n## R\n\n### R.1 C\n\n### R.2 D\n", [False, True]),
        ("## 1. A\n\n## R\n\nUndo.\n\n- PASS: STOP\n", [False]),
    ],
    ids=["step", "first-substep", "substep", "no-goto"],
)
def test_a_goto_that_can_never_fire_is_to_be_corrected(tmp_path: Path, text: str, expected: list[bool]) -> None:
    advice = helps(compiled(tmp_path, text), "RD401")
    assert ["a GOTO names this step but never fires" in item for item in advice] == expected
    assert ["add a GOTO to it" in item for item in advice] == [not named for named in expected]


@pytest.mark.parametrize(
    ("section", "code"),
    [
        ("## Notes\n\n### What it is\n\nText.\n", "RD032"),
        ("## Notes\n\n#### Deep\n\nText.\n", "RD030"),
        ("## Notes\n\n```sh\nx\n```\n\nText.\n", "RD112"),
        ("## Notes\n\n```sh\nx\n```\n\n```sh\nx\n```\n", "RD110"),
        ("## Änderungen\n\nText.\n", "RD032"),
        ('## Notes: "all" of them\n\nText.\n\n```text\nx\n```\n', "RD401"),
    ],
)
def test_the_option_is_advised_for_a_text_with_errors(tmp_path: Path, section: str, code: str) -> None:
    (advice,) = helps(compiled(tmp_path, BUILD + section), code)
    assert code != "RD401" or advice.endswith(r'in the frontmatter: `rdc: {prose: ["Notes: \"all\" of them"]}`')
    taken = "---\n" + advice.split("`")[-2] + "\n---\n" + BUILD + section
    assert findings(compiled(tmp_path, taken)) == []


@pytest.mark.parametrize(
    ("step", "is_error"),
    [
        ("## Rollback\n\n```bash\nundo\n```\n", False),
        ("## Rollback\n\nUndo it.\n\n- PASS: STOP\n", False),
        ("## Rollback\n\n### Rollback.1 Undo\n\nUndo it.\n", False),
        ("text\n", True),
        ("- FAIL: GOTO Fix\n\n## Fix\n\n```sh\nx\n```\n\ntext\n", True),
        ("## Fix\n\n```sh\nx\n```\n\ntext\n\n- PASS: STOP\n", True),
        ("## 2\\. Test\n", True),
        ("## {n}. Test\n", True),
    ],
)
def test_the_option_is_not_advised_for_a_step(tmp_path: Path, step: str, is_error: bool) -> None:
    compilation = compiled(tmp_path, BUILD + step)
    assert (compilation.program is None, helps(compilation, "RD401") == []) == (is_error, is_error)
    assert not [finding(item) for item in compilation.diagnostics if "prose" in item.help]


def test_a_section_is_advised_once(tmp_path: Path) -> None:
    compilation = compiled(tmp_path, BUILD + "## Notes\n\n### One thing\n\n### Another thing\n\n#### Deep\n\nText.\n")
    assert len(compilation.diagnostics) > 1
    assert [finding(item) for item in compilation.diagnostics if "prose" in item.help] == ["RD032 9:9"]


def test_many_unreachable_steps_are_advised_in_little_time(tmp_path: Path) -> None:
    text = BUILD + "- PASS: STOP\n\n" + "".join(f"## Notes_{number}\n\nText.\n\n" for number in range(1_000))
    compilation = compiled(tmp_path, text)
    assert len(helps(compilation, "RD401")) == 1_000
    assert compile_file(compilation.path).diagnostics == compilation.diagnostics
