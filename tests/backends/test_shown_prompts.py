"""A step's prompt is shown with its command, also without a terminal, and nothing in it runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import call

pytestmark = pytest.mark.process

DOCUMENT = """\
# Deploy

## 1. Look

Watch the dashboard, `$(touch owned)`, $(touch owned) and $HOME.

endef
@echo %s \\

```bash
echo looking
[ -e again ] || ! touch again
```

- FAIL: RETRY 1 STOP

## 2. Other

```sh
echo other
```

- PASS: COMPLETE "done"
"""
PROMPT = "    Watch the dashboard, `$(touch owned)`, $(touch owned) and $HOME.\n\n    endef\n    @echo %s \\\n"
GROUP = "## 1. Group\n\nThe group's text.\n\n### 1.1 A\n\nIts own text.\n\n```bash\necho a\n```\n"


def ran(folder: Path, target: str, *words: str, document: str = DOCUMENT, options: tuple[str, ...] = ()) -> str:
    """The whole output of a document that runs on a target without a terminal."""
    (folder / "a.runbook.md").write_text(document, encoding="utf-8")
    result = call("compile", "--to", target, *options, "a.runbook.md", cwd=folder)
    assert result.code == 0, result.err
    done = subprocess.run(
        words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    assert done.returncode == 0, done.stdout
    assert not (folder / "owned").exists()
    return done.stdout.decode()


PYTHON = (sys.executable, "a.py")
CASES = {
    "python": ("python", (*PYTHON, "run"), ()),
    "python with a shared runtime": ("python", (*PYTHON, "run"), ("-O", "runtime=shared")),
    "script": ("python", PYTHON, ("-O", "runtime=script")),
}


@pytest.mark.parametrize("name", CASES)
def test_a_prompt_is_shown_once_above_the_output_of_its_command(name: str, tmp_path: Path) -> None:
    target, words, options = CASES[name]
    out = ran(tmp_path, target, *words, options=options)
    assert out.count(PROMPT) == 1, out
    assert out.index(PROMPT) < out.rindex("\nlooking\n")


def test_a_makefile_that_calls_the_program_shows_it(tmp_path: Path) -> None:
    document = DOCUMENT.replace("# Deploy", "---\nrdc: {inputs: {HOST: {default: db1}}}\n---\n# Deploy")
    document = document.replace("Watch the", "On {{HOST}}, watch the")
    out = ran(tmp_path, "make", "make", "-f", "a.mk", document=document)
    assert "    On db1, watch the dashboard, `$(touch owned)`, $(touch owned) and $HOME.\n" in out


@pytest.mark.parametrize("options", [(), ("-O", "runtime=script")])
def test_the_text_of_a_group_is_above_its_first_step(options: tuple[str, ...], tmp_path: Path) -> None:
    words = PYTHON if options else (*PYTHON, "run")
    out = ran(tmp_path, "python", *words, document=GROUP, options=options)
    assert out.index("    The group's text.\n") < out.index("    Its own text.\n") < out.index("a\n    PASS")
