"""A document has one identity (R4), and its output depends on the input only."""

import json
import resource
import shutil
import subprocess
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import pytest

from compiler.driver import compile_file
from tests.support.cli import ROOT, call, document, spawn
from tests.support.once import shared

pytestmark = pytest.mark.process

ASKS = "# {title}\n\n## 1. Build\n\n```bash\necho {title} >> built\n```\n\n## 2. Good?\n\n- YES: CONTINUE\n- NO: STOP\n"
LAST = "\n## 3. Go\n\n```bash\necho {title} >> gone\n```\n"


def project(folder: Path, files: Mapping[str, str], root: str = "rdc.toml") -> Path:
    """Write documents that ask, each with its own title, into a project."""
    if root:
        (folder / root).touch()
    for path, title in files.items():
        document(folder, path, (ASKS + LAST).format(title=title))
    return folder


def begin(folder: Path, path: str) -> None:
    assert spawn("run", path, cwd=folder).code == 75


def states(folder: Path) -> list[str]:
    return sorted(str(path.parent.relative_to(folder)) for path in folder.rglob("journal"))


@pytest.mark.parametrize(
    ("path", "beside", "name"),
    [
        ("deploy.runbook.md", (), "deploy"),
        ("shop/deploy.runbook.md", (), "shop.deploy"),
        ("a/b/c.runbook.md", ("c.runbook.md",), "a.b.c"),
        ("shop/deploy.md", (), "shop.deploy"),
        ("deploy.runbook.md", ("deploy.workflow.yaml",), "deploy.runbook.md"),
        ("deploy.md", ("deploy.runbook.md",), "deploy.md"),
        ("deploy.runbook.md", ("deploy.md", "deploy.yaml"), "deploy"),
        ("our docs/de ploy.runbook.md", (), "our-docs.de-ploy"),
    ],
)
def test_name_is_the_path_from_the_root(tmp_path: Path, path: str, beside: tuple[str, ...], name: str) -> None:
    project(tmp_path, {path: "Deploy", **dict.fromkeys(beside, "Other")})
    program = compile_file(str(tmp_path / path)).program
    assert program
    assert (program.name, program.sources[0].path) == (name, path)


def test_names_without_plain_letters_and_long_names_stay_apart(tmp_path: Path) -> None:
    paths = ["\u53d1\u5e03.runbook.md", "\u90e8\u7f72.runbook.md", *(f"{'x' * 80}/{n}.runbook.md" for n in "ab")]
    project(tmp_path, dict.fromkeys(paths, "A"))
    programs = [compile_file(str(tmp_path / path)).program for path in paths]
    names = {program.name for program in programs if program}
    assert (len(names), max(map(len, names))) == (4, 64)


def test_documents_of_one_name_never_meet_and_status_lists_both(tmp_path: Path) -> None:
    project(tmp_path, {"shop/deploy.runbook.md": "Shop", "billing/deploy.runbook.md": "Billing"})
    begin(tmp_path, "shop/deploy.runbook.md")
    begin(tmp_path / "billing", "deploy.runbook.md")
    assert states(tmp_path) == [".rdc/billing.deploy", ".rdc/shop.deploy"]
    for folder, prefix in ((tmp_path, "shop/"), (tmp_path / "shop", "")):
        listed = {run["name"]: run for run in json.loads(spawn("status", "--json", cwd=folder).out)["runs"]}
        assert sorted(listed) == ["billing.deploy", "shop.deploy"]
        assert listed["shop.deploy"]["next"][0] == f"rdc run {prefix}deploy.runbook.md answer 2 yes"
        assert listed["shop.deploy"]["question"] == "Good?"
    assert spawn("run", "deploy.runbook.md", "answer", "2", "yes", cwd=tmp_path / "shop").code == 0
    assert spawn("run", str(tmp_path / "shop/deploy.runbook.md"), "resume", cwd=tmp_path / "billing").code == 0
    assert (tmp_path / "shop/gone").exists() is False
    assert (tmp_path / "gone").read_text() == "Shop\n", "commands run where the run started"


def test_outside_of_a_project_a_document_keeps_its_run_beside_it(tmp_path: Path) -> None:
    project(tmp_path, {"a/deploy.runbook.md": "A", "b/deploy.runbook.md": "B"}, root="")
    begin(tmp_path, "a/deploy.runbook.md")
    begin(tmp_path, "b/deploy.runbook.md")
    assert states(tmp_path) == ["a/.rdc/deploy", "b/.rdc/deploy"]
    listed = {run["name"]: run["next"][0] for run in json.loads(spawn("status", "--json", cwd=tmp_path).out)["runs"]}
    assert listed == {f"{name}/deploy": f"rdc run {name}/deploy.runbook.md answer 2 yes" for name in "ab"}


def test_a_run_is_found_where_the_root_was_when_it_started(tmp_path: Path) -> None:
    project(tmp_path, {"ops/deploy.runbook.md": "Deploy"}, root="")
    begin(tmp_path / "ops", "deploy.runbook.md")
    project(tmp_path, {"deploy.runbook.md": "Another"})
    found = spawn("run", "ops/deploy.runbook.md", "status", cwd=tmp_path)
    assert found.err == "rdc: this run is in ops/.rdc/deploy\n"
    assert "\n  rdc run ops/deploy.runbook.md answer 2 yes --state-dir ops/.rdc/deploy\n" in found.out
    command = "rdc run deploy.runbook.md answer 2 yes --state-dir .rdc/deploy"
    assert f"\n  {command}\n" in spawn("status", cwd=tmp_path / "ops").out
    document(tmp_path, "ops/deploy.runbook.md", (ASKS + LAST).format(title="Deploy").replace("3. Go", "3. Deliver"))
    assert spawn("run", "ops/deploy.runbook.md", "resume", "--adopt", cwd=tmp_path).code == 75
    assert "rdc: COMPLETE" in spawn("answer", "2", "yes", "--resume", cwd=tmp_path / "ops").exits(0).err


def test_a_run_of_another_document_is_refused_with_its_owner(tmp_path: Path) -> None:
    project(tmp_path, {"shop/deploy.runbook.md": "Shop", "shop.deploy.runbook.md": "Other"})
    begin(tmp_path, "shop/deploy.runbook.md")
    for words in ((), ("resume", "--adopt"), ("status",), ("answer", "2", "yes")):
        refused = spawn("run", "shop.deploy.runbook.md", *words, cwd=tmp_path).exits(2)
        assert "has a run of shop/deploy.runbook.md" in refused.err
        assert "--adopt" not in refused.err


def test_runs_with_a_label_move_along_and_another_program_takes_none(tmp_path: Path) -> None:
    project(tmp_path, {"a.runbook.md": "A", "other.runbook.md": "Other"})
    text = (tmp_path / "a.runbook.md").read_text()
    head = "---\nname: named\nrdc:\n  inputs:\n    X: {default: x}\n---\n"  # the name in the metadata names nothing
    (tmp_path / "a.runbook.md").write_text(head + text)
    for label in ("eu", "us"):
        assert spawn("run", "a.runbook.md", "run", "--as", label, cwd=tmp_path).code == 75
    (tmp_path / "a.runbook.md").rename(tmp_path / "c.runbook.md")
    assert "WAITING at 2" in spawn("run", "c.runbook.md", "status", "--as", "us", cwd=tmp_path).out
    assert states(tmp_path) == [".rdc/c@eu", ".rdc/c@us"]
    (tmp_path / "c.runbook.md").rename(tmp_path / "b.runbook.md")
    assert "No run has started here" in spawn("run", "other.runbook.md", "status", cwd=tmp_path).out
    assert states(tmp_path) == [".rdc/c@eu", ".rdc/c@us"]
    assert "No run has started here" in spawn("run", "b.runbook.md", "status", cwd=tmp_path).out
    assert states(tmp_path) == [".rdc/b@eu", ".rdc/b@us"]
    assert spawn("run", "b.runbook.md", "answer", "2", "yes", "--as", "us", cwd=tmp_path).code == 0


def test_the_run_of_a_moved_document_moves_along(tmp_path: Path) -> None:
    project(tmp_path, {"shop/deploy.runbook.md": "Shop"})
    begin(tmp_path, "shop/deploy.runbook.md")
    (tmp_path / "ops").mkdir()
    source, words, old = tmp_path / "shop/deploy.runbook.md", ("run", "ops/release.runbook.md"), ".rdc/shop.deploy"
    shutil.copy(source, tmp_path / "ops/release.runbook.md")
    assert "No run has started here" in spawn(*words, "status", cwd=tmp_path).out, "the other document still exists"
    source.unlink()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / old / "journal").stat().st_size, before[1]))
    full = spawn(*words, "status", cwd=tmp_path)
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (full.code, f"{old}/journal: cannot record" in full.err, states(tmp_path)) == (2, True, [old])
    assert "'shop/deploy.runbook.md' was moved" in spawn(*words, "status", cwd=tmp_path).exits(0).err
    (tmp_path / ".rdc/ops.release").rename(tmp_path / old)  # where it is if rdc was killed in between
    assert f"{old} is now " in spawn(*words, "answer", "2", "yes", cwd=tmp_path).exits(0).err
    assert states(tmp_path) == [".rdc/ops.release"]
    assert spawn(*words, "resume", cwd=tmp_path).code == 0


def test_the_run_of_a_moved_document_is_that_of_its_new_place(tmp_path: Path) -> None:
    project(tmp_path, {"deploy.runbook.md": "Shop"})
    begin(tmp_path, "deploy.runbook.md")
    (tmp_path / "ops").mkdir()
    (tmp_path / "deploy.runbook.md").rename(tmp_path / "ops/deploy.runbook.md")
    assert "WAITING at 2 Good?" in spawn("run", "ops/deploy.runbook.md", "status", cwd=tmp_path).exits(0).out
    [run] = json.loads(spawn("status", "--json", cwd=tmp_path).out)["runs"]
    assert (run["name"], run["question"]) == ("ops.deploy", "Good?")
    assert run["next"][0] == "rdc run ops/deploy.runbook.md answer 2 yes"
    assert spawn("answer", "yes", cwd=tmp_path).code == 0
    document(tmp_path, "ops/deploy.runbook.md", (ASKS + LAST).format(title="Shop").replace("3. Go", "3. Deliver"))
    assert spawn("run", "ops/deploy.runbook.md", "resume", "--adopt", cwd=tmp_path).code == 0
    assert (tmp_path / "gone").exists()


AGENT = "name: {name}\nsteps:\n  - name: work\n    agent: coder\n    prompt: {name}\n    end: true\n"


def test_companions_and_groups_are_named_after_the_workflow_s_file(tmp_path: Path) -> None:
    project(tmp_path, {})
    for name in ("shop", "billing"):
        document(tmp_path, f"{name}/deploy.workflow.yaml", AGENT.format(name=name))
        words = ("--to", "github", "-o", f".github/workflows/{name}.yml", "-O", "agent=claude -p")
        (tmp_path / ".github/workflows").mkdir(parents=True, exist_ok=True)
        assert call("compile", f"{name}/deploy.workflow.yaml", *words, cwd=tmp_path).code == 0
    for name in ("shop", "billing"):
        text = (tmp_path / f".github/workflows/{name}.yml").read_text()
        assert f".github/rdc/{name}.py" in text
        assert f"\n  group: {name}\n" in text
        assert call("verify", f".github/workflows/{name}.yml", f".github/rdc/{name}.py", cwd=tmp_path).code == 0


def test_no_compile_breaks_the_companion_of_another_file(tmp_path: Path) -> None:
    project(tmp_path, {})
    folder = tmp_path / ".github/workflows"
    folder.mkdir(parents=True)
    same = ("--to", "github", "-O", "agent=claude -p", "-O", "program=../rdc/both.py")
    for name in ("a", "b"):
        (tmp_path / f"{name}.workflow.yaml").write_text(AGENT.format(name=name))
    assert call("compile", "a.workflow.yaml", *same, "-o", str(folder / "a.yml"), cwd=tmp_path).code == 0
    before = (tmp_path / ".github/rdc/both.py").read_text()
    refused = call("compile", "b.workflow.yaml", *same, "-o", str(folder / "b.yml"), cwd=tmp_path)
    assert (refused.code, "RD525" in refused.err, "which a.yml uses" in refused.err) == (1, True, True)
    assert (tmp_path / ".github/rdc/both.py").read_text() == before
    assert not (folder / "b.yml").exists()
    (tmp_path / "a.workflow.yaml").write_text(AGENT.format(name="changed"))
    assert call("compile", "a.workflow.yaml", *same, "-o", str(folder / "a.yml"), cwd=tmp_path).code == 0, "its own"


CALLING = ("github -O prompts=answers -O program=a.py -o a.x", "make -O operator=full -O program=a.py -o a.x")


@pytest.mark.parametrize(
    ("first", "second"),
    [*product(CALLING, ["python"]), *product(["python"], CALLING), ("skill", "python -o a/scripts/a.py")],
)
def test_no_compile_overwrites_a_file_with_another_use(first: str, second: str, tmp_path: Path) -> None:
    project(tmp_path, {"a.runbook.md": "A"})
    call("compile", "a.runbook.md", "--to", *first.split(), cwd=tmp_path).exits(0)
    before = {path: path.read_text() for path in tmp_path.rglob("*.py")}
    refused = call("compile", "a.runbook.md", "--to", *second.split(), cwd=tmp_path).exits(1)
    assert ("RD525" in refused.err, {path: path.read_text() for path in before}) == (True, before), refused.err
    call("compile", "a.runbook.md", "--to", *first.split(), cwd=tmp_path).exits(0)  # its own


@pytest.mark.parametrize("named", [True, False])
def test_a_worker_has_the_name_of_its_project(tmp_path: Path, *, named: bool) -> None:
    project(tmp_path, {"a.runbook.md": "A"})
    (tmp_path / "rdc.toml").write_text('[project]\nname = "shop"\n' if named else "")
    done = call("compile", "a.runbook.md", "--to", "dbos", "-o", "a.py", cwd=tmp_path)
    assert (done.code, "RD308" in done.err) == (0, not named)
    assert ('project="shop"' in (tmp_path / "a.py").read_text()) == named
    assert "RD308" not in call("compile", "a.runbook.md", "--to", "python", "-o", "b.py", cwd=tmp_path).err


def test_a_project_with_a_wrong_name(tmp_path: Path) -> None:
    project(tmp_path, {"a.runbook.md": "A"})
    (tmp_path / "rdc.toml").write_text("[project]")
    assert call("check", "a.runbook.md", cwd=tmp_path).code == 0
    long = f'[project]\nname = "{"x" * 65}"'
    for text in ("project = 1", "[project]\nname = 1", '[project]\nname = "a"\nx = 1', long):
        (tmp_path / "rdc.toml").write_text(text)
        assert "RD501" in call("check", "a.runbook.md", cwd=tmp_path).exits(1).err


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
    out.mkdir(exist_ok=True)
    spawn("compile", *(sources or SOURCES), "--to", "python", "-o", str(out), cwd=cwd, **variables).exits(0)
    files = {path.name: path.read_bytes() for path in out.iterdir()}
    assert sorted(files) == sorted(Path(source).name.replace(".runbook.md", ".py") for source in sources or SOURCES)
    return files


def some(files: Files) -> Files:
    return {f"{name}.py": files[f"{name}.py"] for name in SOME}


@pytest.fixture(scope="module")
def usual() -> Files:
    def compile_usual(folder: Path) -> None:
        compiled(folder, PYTHONHASHSEED="0", LC_ALL="C.UTF-8", TZ="UTC")

    return {path.name: path.read_bytes() for path in shared("usual", compile_usual).iterdir()}


def in_locale(name: str) -> dict[str, str]:
    return {"LC_ALL": name, "LANG": name, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_hash_seed_locale_and_time_zone(usual: Files, tmp_path: Path) -> None:
    """All at once."""
    variables = {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", **in_locale("C")}
    assert compiled(tmp_path / "out", None, ROOT, **variables) == usual


@pytest.mark.soak
@pytest.mark.parametrize("locale", locales())
def test_other_seeds_locales_and_time_zones(locale: str, usual: Files, tmp_path: Path) -> None:
    variables = {"PYTHONHASHSEED": "31337", "TZ": "America/St_Johns", **in_locale(locale)}
    assert compiled(tmp_path / "out", None, ROOT, **variables) == usual


def test_relative_path_from_another_folder(usual: Files, tmp_path: Path) -> None:
    sources = [f"{name}.runbook.md" for name in SOME]
    assert compiled(tmp_path / "out", sources, ROOT / "examples") == some(usual)
    assert compiled(tmp_path / "out", [f"../examples/{name}" for name in sources], ROOT / "docs") == some(usual)


def test_absolute_paths_in_another_order(usual: Files, tmp_path: Path) -> None:
    assert compiled(tmp_path / "out", [str(ROOT / source) for source in SOURCES[::-1]], tmp_path) == usual


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
