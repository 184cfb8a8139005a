"""Output is a function of the input alone: not of hash seed, locale, time zone, folder, or order of the sources."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import ROOT, spawn

pytestmark = pytest.mark.process

NAMES = sorted(path.name.removesuffix(".runbook.md") for path in (ROOT / "examples").glob("*.runbook.md"))
SOURCES = [f"examples/{name}.runbook.md" for name in NAMES]
SOME = NAMES[::3]
"""Enough where files, and not what is in them, are looked for in another way."""

Files = dict[str, bytes]


def locales() -> list[str]:
    """The plain locales and, of those installed, one that is neither English nor UTF-8, and one that is not English."""
    listed = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False)
    foreign = [name for name in listed.stdout.split() if not name.startswith(("C", "POSIX", "en"))]
    return ["C", "C.UTF-8", *[n for n in foreign if "utf" not in n.lower()][:1], *foreign[-1:]]


def compiled(out: Path, sources: list[str] | None = None, cwd: Path = ROOT, **variables: str) -> Files:
    """What `rdc compile` writes into a folder, by name."""
    out.mkdir(exist_ok=True)
    result = spawn("compile", *(sources or SOURCES), "--to", "python", "-o", str(out), cwd=cwd, **variables)
    assert result.code == 0, result.err
    files = {path.name: path.read_bytes() for path in out.iterdir()}
    assert sorted(files) == sorted(Path(source).name.replace(".runbook.md", ".py") for source in sources or SOURCES)
    return files


def some(files: Files) -> Files:
    """What some of the sources have become."""
    return {f"{name}.py": files[f"{name}.py"] for name in SOME}


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return compiled(tmp_path_factory.mktemp("usual"), PYTHONHASHSEED="0", LC_ALL="C.UTF-8", TZ="UTC")


@pytest.mark.share(3)
@pytest.mark.parametrize("seed", ["1", "31337"])
def test_hash_seed(seed: str, usual: Files, tmp_path: Path) -> None:
    assert compiled(tmp_path / "out", PYTHONHASHSEED=seed) == usual


@pytest.mark.share(3)
@pytest.mark.parametrize("locale", locales())
def test_locale(locale: str, usual: Files, tmp_path: Path) -> None:
    variables = {"LC_ALL": locale, "LANG": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert compiled(tmp_path / "out", None, ROOT, **variables) == usual


@pytest.mark.share(3)
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/St_Johns"])
def test_time_zone(zone: str, usual: Files, tmp_path: Path) -> None:
    assert compiled(tmp_path / "out", TZ=zone) == usual


def test_relative_path_from_another_folder(usual: Files, tmp_path: Path) -> None:
    sources = [f"{name}.runbook.md" for name in SOME]
    assert compiled(tmp_path / "out", sources, ROOT / "examples") == some(usual)
    assert compiled(tmp_path / "out", [f"../examples/{name}" for name in sources], ROOT / "docs") == some(usual)


def test_absolute_path(usual: Files, tmp_path: Path) -> None:
    assert compiled(tmp_path / "out", [str(ROOT / source) for source in SOURCES[::3]], tmp_path) == some(usual)


def test_order_of_the_sources(usual: Files, tmp_path: Path) -> None:
    assert compiled(tmp_path / "out", SOURCES[::-1]) == usual


def test_one_source_alone(usual: Files, tmp_path: Path) -> None:
    result = spawn("compile", "examples/release.runbook.md", "--to", "python", "-o", "-", cwd=ROOT)
    assert result.out.encode() == usual["release.py"]


def test_place_of_the_project(usual: Files, tmp_path: Path) -> None:
    """A copy somewhere else, with links on the way, another time stamp, and other rights."""
    project = tmp_path / "a b ü" / "project"
    shutil.copytree(ROOT / "examples", project / "examples", copy_function=shutil.copyfile)
    (project / "rdc.toml").touch()
    (tmp_path / "link").symlink_to(project)
    assert compiled(tmp_path / "out", None, tmp_path / "link") == usual
