"""The pages of the diagnostics: each example gives its diagnostic, and each fix makes it disappear."""

import re
from pathlib import Path

import pytest

from compiler.diagnostics.model import CODES, Severity
from tools.explanations import BLOCK, Section, page, report, reported, run, section, shown

pytestmark = pytest.mark.process

SECTIONS = ["Meaning", "Why it matters", "Example", "Fix"]
SUGGESTION = re.compile(r"did you mean `?([^`?]+)`?\?")
COMMAND = re.compile(r"run:? `?(rdc (?:fmt|build)[^`;,\n]*)|`(rdc fmt)` does")


def prose(code: str) -> str:
    return BLOCK.sub("", page(code))


@pytest.mark.share(6)
@pytest.mark.parametrize("code", CODES)
def test_example_and_fix(code: str, tmp_path: Path) -> None:
    exit_code, output = run(section(code, "Example"), tmp_path)
    assert report(reported(code, output)) == shown(code), "run `make golden`"
    assert exit_code == (1 if CODES[code].severity is Severity.ERROR else 0), output
    exit_code, output = run(section(code, "Fix"), tmp_path)
    assert (exit_code, f"[{code}]" in output, "error[" in output) == (0, False, False), output


@pytest.mark.parametrize("code", CODES)
def test_page_has_its_form(code: str) -> None:
    known = CODES[code]
    lines = prose(code).splitlines()
    assert lines[0] == f"# {code}: {known.name.replace('-', ' ')}"
    assert lines[2] == f"## {SECTIONS[0]}"
    assert [line.removeprefix("## ") for line in lines if line.startswith("## ")] == SECTIONS
    assert not [line for line in lines if line.startswith("~~~")], "a block that is not closed"
    parts = re.split(r"^## [\w ]+\n", prose(code), flags=re.MULTILINE)
    assert all(parts[number].strip() for number in (1, 2, 4)), "what it is, why it matters, what to do"


@pytest.mark.parametrize("code", [code for code in CODES if SUGGESTION.search(shown(code))])
def test_a_suggestion_is_true(code: str, tmp_path: Path) -> None:
    example = section(code, "Example")
    found = reported(code, run(example, tmp_path)[1])
    name, suggestion = found["path"], SUGGESTION.search(found[0])[1]  # type: ignore[index]
    if not found["line"]:  # the path is wrong
        commands = [command.replace(name, suggestion) for command in example.commands]
        assert f"[{code}]" not in run(Section(example.files, commands), tmp_path)[1]
        return
    text = example.files[name]
    place = sum(map(len, text.splitlines(keepends=True)[: int(found["line"]) - 1])) + int(found["column"]) - 1
    quoted = [word for words in re.findall(r"`([^`]+)`", found["message"]) for word in words.split()[::-1]]
    others = re.findall(r"[\w-]+", found["message"])
    whole = [rf"(?<![\w-]){re.escape(word)}(?![\w-])" for word in [*quoted, *others] if word != suggestion]
    wrong = next(word for word in whole if re.search(word, text[place:]))
    files = {**example.files, name: text[:place] + re.sub(wrong, lambda _: suggestion, text[place:], count=1)}
    output = run(Section(files, example.commands), tmp_path)[1]
    assert all(words not in output for words in (found["message"], "internal error")), output


@pytest.mark.parametrize("code", [code for code in CODES if COMMAND.search(shown(code))])
def test_a_command_that_a_help_names_fixes_it(code: str, tmp_path: Path) -> None:
    example = section(code, "Example")
    found = reported(code, run(example, tmp_path)[1])
    match = COMMAND.search(found["help"])
    assert match
    command = match[1] or f"{match[2]} {found['path']}"
    output = run(Section({}, [command, example.commands[-1]]), tmp_path)[1]
    assert f"[{code}]" not in output, output
