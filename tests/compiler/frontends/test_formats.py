"""A format is one entry in the registry: with it come its options and flags, and no grammar is needed."""

import subprocess
import sys
from pathlib import Path

import pytest

from compiler.driver import Settings, compile_file
from compiler.frontends import FRONT_ENDS
from compiler.project.project import open_project
from compiler.text.files import FileIssue
from compiler.text.source import Source
from tests.compiler.frontends.sample_format import FORMAT
from tests.support.cli import environment
from tests.support.documents import findings

pytestmark = pytest.mark.process

STEPS = "steps: [one]\n"
RUNBOOK = "## 1. One\n\nDo it.\n"


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FRONT_ENDS, FORMAT.name, FORMAT)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rdc.toml").touch()
    return tmp_path


def read(folder: Path, text: str = STEPS, configuration: str = "", **words: str) -> list[str]:
    """The findings about a list of steps, the last of which says what its options are."""
    (folder / "rdc.toml").write_text(configuration)
    (folder / "a.steps.yml").write_text(text)
    found = compile_file(str(folder / "a.steps.yml"), Settings(options=words)).diagnostics
    return [f"{item.code} {item.span.line}:{item.span.column}" if item.span else item.message for item in found]


def test_an_option_outweighs_by_its_level(folder: Path) -> None:
    loud, quiet = "steps: [one]\nrdc: {voice: loud}\n", 'voice = "quiet"\nlimit = 3\n'
    assert read(folder) == ["{'voice': None, 'limit': None}"]
    assert read(folder, configuration=quiet) == ["{'voice': 'quiet', 'limit': 3}"]
    assert read(folder, loud, quiet) == ["{'voice': 'loud', 'limit': 3}"]
    assert read(folder, loud, quiet, voice="quiet", limit="4") == ["{'voice': 'quiet', 'limit': 4}"]


def test_a_error_has_its_place(folder: Path) -> None:
    nothing = "{'voice': None, 'limit': None}"
    assert read(folder, STEPS + "rdc: {voice: shrill}\n") == [nothing, "RD013 2:7"]
    assert read(folder, STEPS + "rdc:\n  limit: 3\n") == [nothing, "RD013 3:3"]  # it has no such level
    (found,) = (item for item in compile_file(str(folder / "a.steps.yml")).diagnostics if item.code == "RD013")
    assert found.message == "`limit` cannot be set in the document"
    assert found.help == "set it on the command line or in the project's configuration"
    assert read(folder, configuration="# c\nlimit = -1\n") == ["RD501 2:1", nothing]
    with pytest.raises(ValueError, match="`limit` is a number, not 'x'"):
        read(folder, limit="x")


def test_a_document_has_the_options_of_its_own_format_alone(folder: Path) -> None:
    assert "RD013 2:7" in read(folder, STEPS + "rdc: {transitions: after-body}\n")
    (folder / "a.runbook.md").write_text("---\nrdc: {voice: loud}\n---\n" + RUNBOOK)
    compilation = compile_file(str(folder / "a.runbook.md"))
    assert findings(compilation) == ["RD013 2:7"]
    assert compilation.diagnostics[0].help.startswith(
        "the options are `transitions`, `prose`, `inputs`, `outputs`, `shell`, `secrets`, `logs`, `notify`, `rules`; "
    )


def test_a_project_sets_the_options_of_all_formats(folder: Path) -> None:
    (folder / "a.runbook.md").write_text(RUNBOOK)
    both = 'voice = "loud"\ntransitions = "after-header"\n'
    assert read(folder, configuration=both) == ["{'voice': 'loud', 'limit': None}"]
    assert findings(compile_file(str(folder / "a.runbook.md"))) == []
    assert read(folder, configuration="limits = 5\n")[0] == "RD501 1:1"
    (found,) = compile_file(str(folder / "a.runbook.md")).diagnostics[:1]
    assert found.message.endswith("there is no option `limits`; did you mean `limit`?")


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("b.md", "there is no {} `b.md` in this folder or in the project root"),
        ("/b.md", "use a relative path to a {} inside the project (the folder with `.git` or `rdc.toml`)"),
    ],
    ids=["missing", "outside"],
)
def test_messages_call_a_document_as_its_format_does(folder: Path, reference: str, message: str) -> None:
    project = open_project(str(folder / "a.steps.yml"))
    for noun in ({}, {"noun": FORMAT.noun}):
        refused = project.find(Source.from_text("a.steps.yml", STEPS), reference, **noun)
        assert isinstance(refused, FileIssue)
        assert message.format(noun.get("noun", "document")) in (refused.message, refused.help)
    (folder / "a.runbook.md").write_text(f"## 1. One\n\n- {reference.replace('.md', '.runbook.md')}\n")
    (found,) = compile_file(str(folder / "a.runbook.md")).diagnostics
    assert message.format("runbook").replace("b.md", "b.runbook.md") in (found.message, found.help)


SCRIPT = """
import sys
from compiler.text.files import FileIssue
from compiler.frontends import FRONT_ENDS
from compiler.project.project import open_project
from compiler.text.source import Source
from tests.compiler.frontends.sample_format import FORMAT
FRONT_ENDS[FORMAT.name] = FORMAT
from rdc.cli import main
code = main(sys.argv[1:])
print("grammar needed:", not {"compiler.reading.grammar", "lark"}.isdisjoint(sys.modules))
sys.exit(code)
"""


def rdc(folder: Path, *words: str, **variables: str) -> tuple[int, str, str]:
    """The command line with the sample format in the registry."""
    known = environment() | {"PYTHONPATH": str(Path(__file__).parents[3]), **variables}
    command = [sys.executable, "-c", SCRIPT, *words]
    done = subprocess.run(command, cwd=folder, env=known, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def test_an_option_has_a_flag(folder: Path) -> None:
    (folder / "a.steps.yml").write_text(STEPS)
    code, out, err = rdc(folder, "check", "--voice", "loud", "--limit", "7", ".")
    assert (code, out) == (1, "grammar needed: False\n")
    assert "{'voice': 'loud', 'limit': 7}" in err
    for words, message in (
        (("--voice", "shrill"), "invalid value for '--voice': 'shrill' is not one of 'loud', 'quiet'"),
        (("--limit", "few"), "--limit: `limit` is a number, not 'few'"),
    ):
        code, _, err = rdc(folder, "check", *words, "a.steps.yml")
        assert (code, err) == (2, f"rdc: {message} (see 'rdc check --help')\n")


def test_a_flag_is_in_the_help_and_completed(folder: Path) -> None:
    _, out, _ = rdc(folder, "fmt", "--help")
    assert "--transitions [after-header|after-body]" in out
    assert "--voice [loud|quiet]" in out
    assert "How often it is said." in out
    typed = {"_RDC_COMPLETE": "bash_complete", "COMP_WORDS": "rdc check --voice ", "COMP_CWORD": "3"}
    assert rdc(folder, **typed)[1].splitlines()[:2] == ["plain,loud", "plain,quiet"]
