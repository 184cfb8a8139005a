"""The pages of the diagnostics: each example gives its diagnostic, and each fix makes it disappear.

A page has blocks between lines of `~~~~`. A block with a file name is a file. A `console` block has the commands to run
in the folder of these files, each after a `$ `. Without one, the command is `rdc check` with the first file. The fix
starts from the files of the example and from the files that its commands wrote.

A `text` block below the example shows the diagnostic with its help, so that a reader can compare help and fix.
`python -m tests.rdc.test_explanations` writes these blocks.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from compiler.diagnostic import CODES, Severity
from tests.rdc.cli_support import ROOT, call, environment

PAGES = ROOT / "compiler" / "explanations"
SECTIONS = ["Meaning", "Why it matters", "Example", "Fix"]

REPORTED = re.compile(
    r"^(?P<path>[^\s:]+)(?::(?P<line>\d+):(?P<column>\d+))?: (?P<kind>\w+)\[(?P<code>RD\d+)\]: (?P<message>.*)\n"
    r"(?:(?!.*\[RD\d+\]).*\n)*? += help: (?P<help>.*)$",
    re.MULTILINE,
)
SUGGESTION = re.compile(r"did you mean `?([^`?]+)`?\?")
COMMAND = re.compile(r"run:? `?(rdc (?:fmt|build)[^`;,\n]*)|`(rdc fmt)` does")

BLOCK = re.compile(r"^~~~~(?P<kind>\w+)(?: (?P<name>\S+))?\n(?P<text>.*?)^~~~~$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Section:
    """A section of a page: the files that it shows, and the commands in it."""

    files: dict[str, str]
    commands: list[str]


def page(code: str) -> str:
    return (PAGES / f"{code}.md").read_text(encoding="utf-8")


def prose(code: str) -> str:
    """A page without its blocks."""
    return BLOCK.sub("", page(code))


def section(code: str, name: str) -> Section:
    """The blocks of a section."""
    text = page(code)
    start = text.index(f"\n## {name}\n")
    blocks = [match for match in BLOCK.finditer(text) if match.start() > start]
    if name == "Example":
        blocks = [match for match in blocks if match.start() < text.index("\n## Fix\n")]
    files = {match["name"]: match["text"] for match in blocks if match["name"]}
    lines = [line for match in blocks if match["kind"] == "console" for line in match["text"].splitlines()]
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    assert files or commands, f"{code}: {name} has nothing to run"
    return Section(files, commands or [f"rdc check {next(iter(files))}"])


def run(shown: Section, folder: Path) -> tuple[int, str]:
    """Write the files and run the commands; gives the last exit code and all that was said."""
    for name, text in shown.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if len(shown.commands) == 1 and re.fullmatch(r"rdc [\w ./-]+", shown.commands[0]):
        result = call(*shlex.split(shown.commands[0])[1:], cwd=folder)
        return result.code, result.out + result.err
    variables = environment()
    done = subprocess.run(
        ["bash", "-c", "\n".join(shown.commands)],
        cwd=folder,
        env={**variables, "PATH": f"{Path(sys.executable).parent}:{variables['PATH']}"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.decode()


def reported(code: str, said: str) -> re.Match[str]:
    """The first diagnostic with this code in the output of rdc, and its help."""
    found = next((match for match in REPORTED.finditer(said) if match["code"] == code), None)
    assert found, f"{code} has no help:\n{said}"
    return found


def report(found: re.Match[str]) -> str:
    """The block of a page that shows a diagnostic."""
    return f"~~~~text\n{found['kind']}[{found['code']}]: {found['message']}\nhelp: {found['help']}\n~~~~\n"


def shown(code: str) -> str:
    """The block of a page that shows its diagnostic, "" without one."""
    return next(
        (match[0] + "\n" for match in BLOCK.finditer(page(code)) if match["kind"] == "text" and not match["name"]), ""
    )


@pytest.mark.share(6)
@pytest.mark.parametrize("code", CODES)
def test_example_and_fix(code: str, tmp_path: Path) -> None:
    exit_code, said = run(section(code, "Example"), tmp_path)
    assert report(reported(code, said)) == shown(code), "run `make golden`"
    assert exit_code == (1 if CODES[code].severity is Severity.ERROR else 0), said
    exit_code, said = run(section(code, "Fix"), tmp_path)
    assert f"[{code}]" not in said, said
    assert "error[" not in said, said
    assert exit_code == 0, said


@pytest.mark.parametrize("code", CODES)
def test_page_has_its_form(code: str) -> None:
    known = CODES[code]
    lines = prose(code).splitlines()
    assert lines[0] == f"# {code}: {known.name.replace('-', ' ')}"
    assert lines[2] == f"## {SECTIONS[0]}"
    assert [line.removeprefix("## ") for line in lines if line.startswith("## ")] == SECTIONS
    assert not [line for line in lines if line.startswith("~~~")], "a block that is not closed"
    parts = re.split(r"^## [\w ]+\n", prose(code), flags=re.MULTILINE)
    assert parts[1].strip(), "what it is"
    assert parts[2].strip(), "why it matters"
    assert parts[4].strip(), "what to do"


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
    said = run(Section(files, example.commands), tmp_path)[1]
    assert found["message"] not in said
    assert "internal error" not in said


@pytest.mark.parametrize("code", [code for code in CODES if COMMAND.search(shown(code))])
def test_a_command_that_a_help_names_fixes_it(code: str, tmp_path: Path) -> None:
    example = section(code, "Example")
    found = reported(code, run(example, tmp_path)[1])
    match = COMMAND.search(found["help"])
    assert match
    command = match[1] or f"{match[2]} {found['path']}"
    said = run(Section({}, [command, example.commands[-1]]), tmp_path)[1]
    assert f"[{code}]" not in said, said


if __name__ == "__main__":
    for each in CODES:
        with tempfile.TemporaryDirectory() as folder:
            block = report(reported(each, run(section(each, "Example"), Path(folder))[1]))
        text = page(each).replace(shown(each), "").replace("\n\n\n## Fix", "\n\n## Fix")
        (PAGES / f"{each}.md").write_text(text.replace("\n\n## Fix\n", f"\n\n{block}\n## Fix\n"), encoding="utf-8")
