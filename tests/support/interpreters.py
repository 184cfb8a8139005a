"""The Python interpreters of this machine."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

VERSIONS = [f"3.{minor}" for minor in range(9, 15)]
"""Those that generated programs run on."""
ENDS = ("oldest", "newest")

HOME = "TESTS_PYTHON_HOME"
"""The variable with the folder of the `python3` that comes first on PATH."""

CODES = "codes"
"""The folder in that one with what has been compiled."""

START = """\
import sys

if {first!r} in sys.path:
    sys.path.remove({first!r})
if sys.hexversion == {version} and sys.argv[0] not in ("", "-", "-c", "-m"):
    import codes

    codes.start({kept!r})
"""

FIRST = "import sys; sys.path[:0] = {{{0!r}}}.difference(sys.path)\n"
"""Has START found before a module of that name that Debian puts beside Python's own; a venv reads it twice."""

NODE = """\
#!/bin/sh
if [ "$*" = "--no-warnings -e console.log(process.execPath)" ]; then
    echo '{0}'
    exit
fi
exec '{0}' "$@"
"""


@cache
def interpreter(version: str) -> str | None:
    """An interpreter of a version that really starts: the one running, on the path, or of pyenv."""
    managed = Path.home() / ".pyenv" / "versions"
    found = [shutil.which(f"python{version}"), *sorted(map(str, managed.glob(f"{version}.*/bin/python3")))]
    if f"{sys.version_info.major}.{sys.version_info.minor}" == version:
        found.insert(0, sys.executable)
    for candidate in filter(None, found):
        text = [candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        shown = subprocess.run(text, capture_output=True, text=True, check=False)
        if shown.stdout.strip() == version:
            return candidate
    return None


@cache
def end_of_support(which: str) -> str:
    """The `oldest` or the `newest` interpreter here: what both run, those between only need to compile."""
    found = (python for version in VERSIONS[:: 1 if which == "oldest" else -1] if (python := interpreter(version)))
    return next(found)


def put_first() -> None:
    """Put `python3` first on PATH, the interpreter running without packages; all workers of a run share it.

    The launcher of a version manager is slower than most calls, and so are packages that start with the interpreter.
    Generated programs need no package. What it has compiled once, it does not compile again (`warm/codes.py`), and
    neither does the interpreter with packages, which finds the same by PYTHONPATH.
    """
    if HOME in os.environ:
        return
    home = Path(tempfile.mkdtemp(prefix="rdc-python-"))
    atexit.register(_removed, home, os.getpid())
    real = Path(sys.executable).resolve()
    packages = home / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    for folder in (home / "bin", packages, home / CODES):
        folder.mkdir(parents=True)
    for name in ("python", "python3"):
        (home / "bin" / name).symlink_to(real)
    (home / "pyvenv.cfg").write_text(f"home = {real.parent}\ninclude-system-site-packages = false\n", encoding="utf-8")
    _write_node(home / "bin" / "node")
    shutil.copy(Path(__file__).parent / "warm" / "codes.py", packages)
    first = f"{packages}{os.sep}"  # unlike the entry that PYTHONPATH makes
    start = START.format(first=first, version=sys.hexversion, kept=str(home / CODES))
    (packages / "sitecustomize.py").write_text(start, encoding="utf-8")
    (packages / "first.pth").write_text(FIRST.format(first), encoding="utf-8")
    os.environ[HOME] = str(home)
    os.environ["PATH"] = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(packages)]))


def _write_node(path: Path) -> None:
    """Write a `node` that tells where it is without a start of node, which act asks for each job."""
    found = shutil.which("node")
    if found:
        path.write_text(NODE.format(Path(found).resolve()), encoding="utf-8")
        path.chmod(0o755)


def kept_code() -> str:
    """The folder of the code that processes compile for each other."""
    return str(Path(os.environ[HOME]) / CODES)


def _removed(home: Path, owner: int) -> None:
    if os.getpid() == owner:  # a process that a test forked is not the last that needs it
        shutil.rmtree(home, ignore_errors=True)
