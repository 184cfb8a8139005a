"""The option `prose`: sections that are text, what becomes of them, and where rdc advises to use it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compiler.driver import Compilation, compile_file
from compiler.frontends.rundown.parse.document import parse
from compiler.text.source import Source
from tests.compiler.frontends.rundown.printing import print_runbook
from tests.support.documents import compiled, finding, findings
from tests.support.text_form import to_text_form

BUILD = "## 1. Build\n\n```bash\nmake\n```\n\n"
TEST = "## 2. Test\n\nLook.\n"
SECTION = """\
## Prerequisites
An account, and:
### Tools you need
#### Git
```python
print()
```
- PASS the first test
```bash
git --version
```
More text.

"""


def document(prose: str, *parts: str) -> str:
    return f"---\nrdc: {{prose: {prose}}}\n---\n\n" + "".join(parts)


def helps(compilation: Compilation, code: str) -> list[str]:
    return [item.help for item in compilation.diagnostics if item.code == code]


@pytest.mark.parametrize(
    "parts", [(SECTION, BUILD, TEST), (BUILD, SECTION, TEST), (BUILD, TEST, SECTION)], ids=["first", "between", "last"]
)
def test_a_section_of_prose_is_no_step_wherever_it_stands(tmp_path: Path, parts: tuple[str, ...]) -> None:
    compilation = compiled(tmp_path, document("[Prerequisites]", *parts))
    assert findings(compilation) == []
    assert compilation.program
    assert [node.id for node in compilation.program.nodes] == ["1", "2", "STOP", "COMPLETE"]


def test_a_program_is_the_same_with_and_without_sections_of_prose(tmp_path: Path) -> None:
    def printed(text: str) -> str:
        program = compiled(tmp_path, text).program
        assert program
        return "\n".join(line for line in to_text_form(program).splitlines() if "source" not in line)

    with_prose = document("[Prerequisites]", BUILD, TEST, SECTION)
    without = document("[]", BUILD, TEST, "")
    assert printed(with_prose) == printed(without)


def test_prose_above_the_first_step_is_part_of_the_description() -> None:
    tree = parse(Source.from_text("a.runbook.md", document("[Prerequisites]", "# T\n\nIt builds.\n\n", SECTION, BUILD)))
    assert tree.runbook
    assert tree.runbook.description == "It builds.\n\n" + SECTION.rstrip()
    printed = print_runbook(tree.runbook)
    again = parse(Source.from_text("a.runbook.md", printed)).runbook
    assert again
    assert again.description == tree.runbook.description
    assert print_runbook(again) == printed


def test_a_subsection_in_a_step_can_be_prose_too(tmp_path: Path) -> None:
    text = document("[Notes]", "## 1. A\n\nDo.\n\n### Notes\n\nx\n\n### 1.1 B\n\nDo.\n\n", TEST)
    compilation = compiled(tmp_path, text)
    assert findings(compilation) == []
    assert compilation.program
    assert {"1.1", "2"} <= {node.id for node in compilation.program.nodes}


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


def test_spaces_in_a_heading_do_not_count(tmp_path: Path) -> None:
    text = document('["Before  you start"]', "##   Before you   start ##\n\nText.\n\n", BUILD)
    assert findings(compiled(tmp_path, text)) == []


@pytest.mark.parametrize(
    "value", ["Prerequisites", "{a: b}", "[5]", "['']", "[[a]]", "", json.dumps([str(number) for number in range(101)])]
)
def test_what_is_no_list_of_headings_is_an_error(tmp_path: Path, value: str) -> None:
    assert findings(compiled(tmp_path, document(value, BUILD))) == ["RD013 2:7"]


def test_a_misspelled_option_is_corrected(tmp_path: Path) -> None:
    (found,) = compiled(tmp_path, "---\nrdc: {pros: [a]}\n---\n" + BUILD).diagnostics
    assert found.message.endswith("did you mean `prose`?")


def test_the_project_can_name_sections_for_all_documents(tmp_path: Path) -> None:
    files = {"rdc.toml": 'prose = ["Prerequisites", "Troubleshooting"]\n'}
    assert findings(compiled(tmp_path, BUILD + SECTION, files)) == []
    assert findings(compiled(tmp_path, BUILD, files)) == []
    assert findings(compiled(tmp_path, BUILD, {"rdc.toml": "prose = 5\n"})) == ["RD501 1:1"]


def test_the_list_of_a_document_replaces_that_of_the_project(tmp_path: Path) -> None:
    files = {"rdc.toml": 'prose = ["Notes"]\n'}
    text = document("[]", BUILD, "- FAIL: GOTO Notes\n\n## Notes\n\nText.\n")
    assert findings(compiled(tmp_path, text, files)) == []


def test_an_included_document_has_its_own_prose(tmp_path: Path) -> None:
    files = {"a.runbook.md": document("[Notes]", BUILD, "## Notes\n\nText.\n")}
    assert findings(compiled(tmp_path, document("[]", "## 1. A\n\n- a.runbook.md\n"), files)) == []


def test_a_goto_cannot_lead_to_prose_and_is_told_why(tmp_path: Path) -> None:
    compilation = compiled(
        tmp_path, document("[Notes for you]", BUILD, "- FAIL: GOTO Notes\n\n## Notes for you\n\nText.\n")
    )
    assert findings(compilation) == ["RD201 11:14"]
    assert "text by the option `prose`" in compilation.diagnostics[0].help


def test_a_transition_in_prose_is_not_ignored_in_silence(tmp_path: Path) -> None:
    assert findings(compiled(tmp_path, document("[Notes]", BUILD, "## Notes\n\n- PASS: STOP x\n"))) == ["RD043 13:3"]


def test_an_open_block_in_prose_is_an_error_like_elsewhere(tmp_path: Path) -> None:
    text = document("[Notes]", BUILD, "## Notes\n\n```sh\nls\n")
    assert findings(compiled(tmp_path, text)) == ["RD045 13:1"]


def test_a_block_in_prose_that_swallows_a_step_is_reported(tmp_path: Path) -> None:
    text = document("[Notes]", BUILD, "## Notes\n\n```sh\nls\n\n## 2. Test\n\n```sh\nls\n```\n")
    assert findings(compiled(tmp_path, text)) == ["RD049 13:1"]


def test_an_unreachable_section_of_text_is_told_of_the_option(tmp_path: Path) -> None:
    compilation = compiled(tmp_path, BUILD + '## Notes: "all" of them\n\nText.\n\n```text\nx\n```\n')
    (advice,) = helps(compilation, "RD401")
    assert advice.endswith(r'in the frontmatter: `rdc: {prose: ["Notes: \"all\" of them"]}`')
    taken = "---\n" + advice.split("`")[-2] + "\n---\n" + BUILD + '## Notes: "all" of them\n\nText.\n'
    assert findings(compiled(tmp_path, taken)) == []


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
    "step",
    [
        "## Rollback\n\n```bash\nundo\n```\n",
        "## Rollback\n\nUndo it.\n\n- PASS: STOP\n",
        "## Rollback\n\n### Rollback.1 Undo\n\nUndo it.\n",
    ],
    ids=["command", "transition", "substeps"],
)
def test_an_unreachable_step_that_does_something_is_not_called_text(tmp_path: Path, step: str) -> None:
    (advice, *_) = helps(compiled(tmp_path, BUILD + step), "RD401")
    assert "prose" not in advice


@pytest.mark.parametrize(
    ("section", "code"),
    [
        ("## Notes\n\n### What it is\n\nText.\n", "RD032"),
        ("## Notes\n\n#### Deep\n\nText.\n", "RD030"),
        ("## Notes\n\n```sh\nx\n```\n\nText.\n", "RD112"),
        ("## Notes\n\n```sh\nx\n```\n\n```sh\nx\n```\n", "RD110"),
        ("## Änderungen\n\nText.\n", "RD032"),
    ],
)
def test_errors_about_the_form_of_a_text_name_the_option(tmp_path: Path, section: str, code: str) -> None:
    compilation = compiled(tmp_path, BUILD + section)
    (advice,) = helps(compilation, code)
    taken = "---\n" + advice.split("`")[-2] + "\n---\n" + BUILD + section
    assert findings(compiled(tmp_path, taken)) == []


@pytest.mark.parametrize(
    "text",
    [
        BUILD + "text\n",
        BUILD + "- FAIL: GOTO Fix\n\n## Fix\n\n```sh\nx\n```\n\ntext\n",
        BUILD + "## Fix\n\n```sh\nx\n```\n\ntext\n\n- PASS: STOP\n",
        BUILD + "## 2\\. Test\n",
        BUILD + "## {n}. Test\n",
    ],
    ids=["numbered", "goto", "transitions", "almost-a-number", "dynamic"],
)
def test_a_step_of_the_flow_is_not_called_text(tmp_path: Path, text: str) -> None:
    compilation = compiled(tmp_path, text)
    assert compilation.program is None
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
