"""`python -m tests.golden.difference NAME …` shows how generated files differ from those of the last commit.

Examples whose golden files are only hashes need it. NAME is that of an example; without one, all are compared.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.conftest import ROOT

EMIT = """
import os, sys
from pathlib import Path
from tests.support.golden import emit
os.chdir(sys.argv[1])
emit(Path(sys.argv[2]), sys.argv[3:])
"""


def main(names: list[str]) -> int:
    """Compile examples with the last commit's rdc and with this one, and have git show the difference."""
    with TemporaryDirectory(prefix="rdc-golden-") as folder:
        before, after, committed = (Path(folder) / name for name in ("before", "after", "committed"))
        git("worktree", "add", "--quiet", "--detach", str(committed), "HEAD")
        try:
            emitted(committed, before, names)
        finally:
            git("worktree", "remove", "--force", str(committed))
        emitted(ROOT, after, names)
        return subprocess.run(["git", "diff", "--no-index", "before", "after"], cwd=folder, check=False).returncode


def git(*words: str) -> None:
    subprocess.run(["git", *words], cwd=ROOT, check=True)


def emitted(project: Path, folder: Path, names: list[str]) -> None:
    """Have the rdc of a project write the files of examples into a folder."""
    folder.mkdir()
    subprocess.run([sys.executable, "-c", EMIT, str(project), str(folder), *names], cwd=project, check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
