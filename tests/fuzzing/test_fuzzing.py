"""What fuzzing has found stays fixed, the corpus holds, and a short fuzz finds nothing."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from yaml import YAMLError

from backends.registry import load
from tests.conftest import ROOT
from tests.fuzzing.entries import ENTRIES
from tests.support.documents import compiled
from tests.support.outputs import CHECKS

pytestmark = pytest.mark.process

HERE = Path(__file__).parent
KEPT = sorted(path for folder in ("corpus", "found") for path in (HERE / folder).rglob("*") if path.is_file())


@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.share(4)
def test_kept_inputs_break_nothing(name: str, is_whole: bool) -> None:
    """All that fuzzing has found, and a part of the corpus."""
    stored = [path for path in KEPT if path.parent.name == name]
    found = [path for path in stored if "found" in path.relative_to(HERE).parts]
    corpus = [path for path in stored if path not in found]
    assert stored
    for path in [*found, *corpus[:: 1 if is_whole else 4]]:
        print(path.relative_to(ROOT))  # the last one that is shown is the one that breaks something
        ENTRIES[name].run(path.read_bytes())


def test_the_corpus_is_small() -> None:
    assert {path.parent.name for path in KEPT} <= set(ENTRIES)
    assert len(KEPT) <= 250
    assert sum(path.stat().st_size for path in KEPT) < 500_000


@pytest.mark.parametrize(
    ("target", "before", "after"),
    [
        ("python", '"true"', '"false"'),
        ("python", '"true"', "match()"),
        ("dbos", '"true"', '"false"'),
        ("dbos", "dbos==3.4.0", "dbos"),
        ("github", "run: ", "run: ${{ github.ref }} "),
        ("github", "jobs:", "jobs: ["),
        ("make", "\nrun resume retry clean:", "\n$(info x)\nrun resume retry clean:"),
        ("make", "\ntitle-1 = ", "\ntitle-1 = $(info x)"),
        ("make", "\n\ttrue", "\n\t@true"),
        ("make", "\n\ttrue", "\n\ttrue \\\n\tfalse"),
        ("make", "RDC_STEPS := 1", "RDC_STEPS := 1$(info x)"),
        ("make", "pass) COMPLETE", "pass) COMPLETE; touch x"),
        ("make", "\n# Do not", "\n# Do \\\n# not"),
        ("json", '"true"', '"false"'),
        ("dot", "digraph", "digraph\x1b"),
        ("mermaid", "flowchart", "flowchart\u2028"),
    ],
)
def test_an_output_that_is_wrong_is_noticed(target: str, before: str, after: str, tmp_path: Path) -> None:
    program = compiled(tmp_path, "## 1. Do\n\n```bash\ntrue\n```\n").program
    assert program
    text = load(target).emit(program, {}).text
    assert text
    CHECKS[target](program, text)
    assert before in text
    with pytest.raises((AssertionError, SyntaxError, ValueError, YAMLError)):
        CHECKS[target](program, text.replace(before, after))


@pytest.mark.soak
@pytest.mark.skipif(find_spec("atheris") is None, reason="atheris is to be had for Linux on x86-64 only")
def test_a_short_fuzz_finds_nothing(tmp_path: Path) -> None:
    options = ("--entry", "document", "--minutes", "0.02", "--seed", "1", "--scratch", str(tmp_path))
    command = [sys.executable, "-m", "tests.fuzzing", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout
    rounds = re.search(r"document: (\d+) inputs", done.stdout)
    assert rounds, done
    assert int(rounds[1]) >= len([path for path in KEPT if path.parent.name == "document"])
