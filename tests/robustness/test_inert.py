"""rdc runs nothing of a document, and reads nothing outside of its project, whatever the document and its project are.

`rdc run` is the one command that runs commands, and has no place here. What is done is seen twice: by Python's audit
hooks, and where strace is installed by the system calls of rdc and of all that it starts.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from backends.registry import BACKENDS
from rdc.cli import main
from rdc.documents import git as revision
from tests.conftest import ROOT
from tests.robustness.hostile import MAIN, write_modules, write_project
from tests.support import warm
from tests.support.interpreters import ENDS, end_of_support

pytestmark = pytest.mark.process

LIMIT = 30.0
STRACE = shutil.which("strace")
RDC = [sys.executable, "-m", "rdc"]
AUDITED = [sys.executable, str(Path(__file__).with_name("audited.py"))]

# The words of each command, and the file that it may write. A new command of rdc is a line here.
COMMANDS: dict[str, tuple[list[str], str]] = {
    "check": (["check", MAIN], ""),
    "check-sarif": (["check", "--format", "sarif", MAIN, "below/other.runbook.md"], ""),
    **{f"compile-{name}": (["compile", MAIN, "--to", name, "-o", "output"], "output") for name in BACKENDS},
    "compile-check": (["compile", MAIN, "--to", "make", "-o", "output", "--check"], ""),
    "graph-svg": (["graph", MAIN, "-o", "output.svg"], "output.svg"),
    "graph-dot": (["graph", MAIN, "--format", "dot", "-o", "output.dot"], "output.dot"),
    "diff": (["diff", "old.runbook.md", MAIN], ""),
    "diff-revision": (["diff", "HEAD", MAIN], ""),
    "diff-svg": (["diff", "HEAD", MAIN, "--format", "svg", "-o", "output.svg"], "output.svg"),
    "test": (["test", MAIN], ""),
    "trace": (["trace", MAIN, "--outcomes", "5=fail"], ""),
    "trace-all": (["trace", MAIN, "--all"], ""),
    "explain": (["explain", "RD302"], ""),
}
GIT = ("rev-parse", "ls-tree", "cat-file")
READING_GIT = r"\['git', '-c', 'safe.bareRepository=explicit', '-C', '[^']*',( '-c', 'core.fsmonitor=false',)?"

# Where rdc, Python, git and Graphviz themselves have their files.
OWN = [
    sys.prefix,
    sys.base_prefix,
    *(str(ROOT / name) for name in ("rdc", "compiler", "backends", "grammars", "runtime_shim")),
]
SYSTEM = ["/etc", "/usr", "/lib", "/lib64", "/bin", "/opt", "/proc", "/sys", "/dev/null", "/dev/urandom", "/var/cache"]


class Hostile(NamedTuple):
    """A hostile project and what is around it."""

    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "project"

    @property
    def environment(self) -> dict[str, str]:
        """A home, a cache and a place for temporary files of its own."""
        for name in ("home", "cache", "temporary"):
            (self.folder / name).mkdir(exist_ok=True)
        environ = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTHON", "RDC_"))}
        own = {"HOME": "home", "XDG_CACHE_HOME": "cache", "TMPDIR": "temporary"}
        return {**environ, **{name: str(self.folder / path) for name, path in own.items()}}

    def forked(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run rdc, or the script that records what it does, like `run`; its modules are loaded before."""
        return self._looked_at(warm.run(command, cwd=self.root, env=self.environment, timeout=LIMIT, loads="rdc"))

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the project, and see that nothing left its mark and that rdc keeps no cache."""
        environment = {**self.environment, "PYTHONDONTWRITEBYTECODE": "1"}
        return self._looked_at(
            subprocess.run(
                command, cwd=self.root, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                timeout=LIMIT, check=False,
            )
        )  # fmt: skip

    def _looked_at(self, ended: subprocess.CompletedProcess[bytes]) -> subprocess.CompletedProcess[str]:
        texts = ended.stdout.decode(), ended.stderr.decode()
        done = subprocess.CompletedProcess(ended.args, ended.returncode, *texts)
        assert "Traceback" not in done.stderr
        assert "internal error" not in done.stderr
        assert list(self.folder.rglob("*PWNED*.runbook.md")) == list(self.root.glob("$(touch PWNED-10).runbook.md"))
        assert [path.name for path in self.folder.rglob("PWNED*")] == []
        assert not (self.folder / "cache" / "rdc").exists()
        return done

    def may_read(self, path: str) -> bool:
        """Whether a file belongs to the project, to rdc or to the system, with all links followed."""
        if path == str(ROOT):  # where Python looks for modules, if this tree is what is installed
            return True
        own = [str(self.folder / name) for name in ("project", "home", "cache", "temporary")]
        allowed = [*own, *OWN, *SYSTEM]
        real = Path(os.path.realpath(path))
        return any(real.is_relative_to(os.path.realpath(folder)) for folder in allowed)

    def may_write(self, path: str, output: str) -> bool:
        """Whether a file is the output, the one beside it that becomes it, or one of the cache or thrown away."""
        allowed = [str(self.folder / "cache"), str(self.folder / "temporary"), "/dev/null", "/dev/tty"]
        name = os.path.relpath(path, self.root)
        is_output = bool(output) and (name == output or re.fullmatch(r"\.rdc-[0-9a-f]+\.tmp", name) is not None)
        return is_output or any(Path(path).is_relative_to(folder) for folder in allowed)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Hostile:
    if not shutil.which("git"):
        pytest.skip("git is not here")
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "project").mkdir()
    write_project(folder / "project")
    return Hostile(folder)


@pytest.mark.share(5)
@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_runs_or_reads_what_it_should_not(name: str, project: Hostile) -> None:
    words, output = COMMANDS[name]
    done, events = audited(project, *words)
    assert_well(done, name)
    processes = [about[1] for event, about, *_ in events if event == "subprocess.Popen"]
    assert [command for command in processes if not is_innocent(command, name)] == []
    assert wrong(project, [event for event in events if event[0] != "subprocess.Popen"], output) == []


def assert_well(done: subprocess.CompletedProcess[str], name: str) -> None:
    """See that the command did what it is for, so that there was something to see."""
    code = 1 if name == "compile-check" else 0
    assert done.returncode == code, (done.stdout, done.stderr)


def wrong(project: Hostile, events: list[list[str]], output: str = "") -> list[list[str]]:
    """The events that should not have been: anything but to open and to write what may be."""
    return [
        event
        for event in events
        if len(event) < 3 or not project.may_read(event[1]) or (event[2] and not project.may_write(event[1], output))
    ]


def audited(project: Hostile, *words: str) -> tuple[subprocess.CompletedProcess[str], list[list[str]]]:
    record = project.folder / "record"
    done = project.forked(*AUDITED, str(record), *words)
    return done, [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]


def is_innocent(command: str, name: str) -> bool:
    """Whether a command line is one of git that only reads, or of Graphviz, and the command of rdc needs it."""
    if re.match(rf"{READING_GIT} '({'|'.join(GIT)})'", command):
        return name in {"diff-revision", "diff-svg"}
    return name in {"graph-svg", "diff-svg"} and re.search(r"/dot'|'-P', '[^']*/bundled.py'", command) is not None


CALL = re.compile(r'^\d+ +(execve|execveat|open|openat|openat2|creat)\((?:AT_FDCWD, |\d+, )?"([^"]*)", (.*)\) += (\d+)')


@pytest.mark.share(6)
@pytest.mark.skipif(not STRACE, reason="strace is not here")
@pytest.mark.parametrize("name", ["check", "compile-github", "test", "trace-all", "graph-svg", "diff-svg"])
def test_no_system_call_runs_or_reads_what_it_should_not(name: str, project: Hostile) -> None:
    words, output = COMMANDS[name]
    if name.endswith("svg"):  # fontconfig keeps beside the fonts of the system what it learns when it first sees them
        assert_well(project.forked(*RDC, *words), name)
    done, calls = traced(project, sys.executable, "-P", "-m", "rdc", *words)
    assert_well(done, name)
    programs = set()
    for kind, path, rest in calls:
        if kind.startswith("execve"):
            programs.add(Path(path).name)
            continue
        full = str(project.root / path)
        assert project.may_read(full), f"{kind} {path} {rest}"
        writes = kind == "creat" or re.search("O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", rest)
        assert not writes or project.may_write(full, output), f"{kind} {path} {rest}"
    expected = {Path(sys.executable).name}
    expected |= {"git"} if name in {"diff-revision", "diff-svg"} else set()
    expected |= {"dot"} if name in {"graph-svg", "diff-svg"} else set()
    assert programs <= expected, programs


def traced(project: Hostile, *command: str) -> tuple[subprocess.CompletedProcess[str], list[tuple[str, str, str]]]:
    """What came of a command, and the system calls that opened or ran something."""
    record = project.folder / "record"
    traces = "trace=execve,execveat,open,openat,openat2,creat,connect,socket"
    follows = ["-f", "--seccomp-bpf"]  # without the latter each process stops at all its system calls
    strace = [str(STRACE), *follows, "-qq", "-s", "4096", "-e", "signal=none", "-e", traces, "-o", str(record)]
    done = project.run(*strace, *command)
    lines = record.read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if "AF_INET" in line]
    found = [(match[1], match[2], match[3]) for line in lines if (match := CALL.match(line))]
    assert len(found) > 10
    return done, found


@pytest.fixture
def baited(tmp_path: Path) -> Hostile:
    """A project with links out of it, to what it must not read."""
    project = Hostile(tmp_path)
    for folder in (project.root, tmp_path / "outside"):
        folder.mkdir()
    step = "## 1. Secret\n\n```bash\ntrue\n```\n"
    for name in ("secret.runbook.md", "rdc.toml", "pyproject.toml"):
        (tmp_path / "outside" / name).write_text(step, encoding="utf-8")
    (project.root / "rdc.toml").touch()
    (project.root / "link.runbook.md").symlink_to("../outside/secret.runbook.md")
    (project.root / "folder").symlink_to("../outside")
    (project.root / "round.runbook.md").symlink_to("round.runbook.md")
    os.mkfifo(project.root / "pipe.runbook.md")
    (project.root / "zero.runbook.md").symlink_to("/dev/zero")
    (project.root / "tty.runbook.md").symlink_to("/dev/tty")
    return project


REFERENCES = (
    *("../outside/secret.runbook.md", "below/../../outside/secret.runbook.md", "{outside}/secret.runbook.md"),
    *("link.runbook.md", "folder/secret.runbook.md", "~/secret.runbook.md", "file:///etc/passwd.runbook.md"),
    *(f"{name}.runbook.md" for name in ("round", "pipe", "zero", "tty")),
    "..\\outside\\secret.runbook.md",
)


def test_what_lies_outside_or_is_no_file_is_refused_unread(baited: Hostile) -> None:
    outside = baited.folder / "outside"
    items = [f"- {reference.format(outside=outside)}\n" for reference in REFERENCES]
    (baited.root / MAIN).write_text("## 1. Include\n\n" + "".join(items), encoding="utf-8")
    done, events = audited(baited, "check", "--format", "json", MAIN)
    assert done.returncode == 1
    found = json.loads(done.stdout)["diagnostics"]
    assert {one["code"] for one in found} == {"RD001", "RD301", "RD302"}
    assert len(found) == len(REFERENCES)
    assert wrong(baited, events) == []
    (outside / "secret.runbook.md").write_text(f"## 1. Include\n\n- ../project/{MAIN}\n", encoding="utf-8")
    (baited.root / MAIN).write_text("## 1. Do\n\n```bash\ntrue\n```\n", encoding="utf-8")
    done = baited.forked(*RDC, "check", "link.runbook.md")
    named = "a document that the user names may lie anywhere, and what it includes lies beside it"
    assert (done.returncode, "RD302" in done.stdout + done.stderr) == (1, True), named


@pytest.mark.share(3)
@pytest.mark.parametrize("name", ["pipe", "zero", "tty", "round"])
def test_a_document_that_is_no_file_is_refused_at_once(name: str, baited: Hostile) -> None:
    file = f"{name}.runbook.md"
    for words in (["check", file], ["compile", file, "--to", "json", "-o", "-"], ["diff", file, file]):
        done = baited.forked(*RDC, *words)
        assert done.returncode in {1, 2}
        assert re.search(f"RD001|cannot read {file}", done.stdout + done.stderr)


@pytest.mark.share(3)
@pytest.mark.parametrize("name", ["rdc.toml", "pyproject.toml"])
@pytest.mark.parametrize("kind", ["link", "pipe", "device", "folder"])
def test_a_configuration_that_lies_outside_or_is_no_file_is_not_read(kind: str, name: str, baited: Hostile) -> None:
    (baited.root / MAIN).write_text("## 1. Do\n\n```bash\ntrue\n```\n", encoding="utf-8")
    (baited.root / ".git").mkdir()
    (baited.root / "rdc.toml").unlink()
    path = baited.root / name
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to({"link": f"../outside/{name}", "device": "/dev/zero"}[kind])
    done, events = audited(baited, "check", MAIN)
    assert wrong(baited, events) == []
    if name == "rdc.toml":
        assert (done.returncode, "RD501" in done.stdout + done.stderr) == (1, True)
    else:
        assert done.returncode == 0, "another program's business"


YAML = (
    "name: !!python/object/apply:os.system ['touch PWNED']",
    "name: !!python/object/new:subprocess.Popen [['touch', 'PWNED']]",
    "rdc: !!python/module:antigravity",
    "name: !!python/name:os.system",
    "name: !include /etc/passwd",
)


def test_yaml_makes_no_objects(baited: Hostile) -> None:
    names = [f"{number}.runbook.md" for number in range(len(YAML))]
    for name, line in zip(names, YAML, strict=True):
        text = f"---\n{line}\n---\n\n## 1. Do\n\n```bash\ntrue\n```\n"
        (baited.root / name).write_text(text, encoding="utf-8")
    done, events = audited(baited, "check", *names)
    assert done.returncode in {0, 1}
    assert wrong(baited, events) == []


def starters() -> Iterator[tuple[str, list[str]]]:
    """The ways to call rdc."""
    yield "python -m rdc", [sys.executable, "-m", "rdc"]
    script = Path(sys.executable).with_name("rdc")
    if script.exists():
        yield "rdc", [str(script)]


@pytest.mark.share(4)
@pytest.mark.parametrize("names", [("graph-svg",), ("compile-github", "diff-revision")], ids=["drawing", "others"])
@pytest.mark.parametrize("starter", [words for _, words in starters()], ids=[name for name, _ in starters()])
def test_no_module_is_taken_from_the_folder_of_the_document(
    starter: list[str], names: tuple[str, ...], tmp_path: Path
) -> None:
    project = Hostile(tmp_path)
    project.root.mkdir()
    write_project(project.root)
    write_modules(project.root)
    for name in names:
        assert_well(project.run(*starter, *COMMANDS[name][0]), name)
    targets = project.run(*starter, "targets")
    assert (targets.returncode, "evil" in targets.stdout) == (0, False)


PROGRAM = "# Ask\n\n## 1. Build\n\n```bash\ntrue\n```\n\n## 2. Fine?\n\nIs it?\n\n- YES: COMPLETE\n- NO: STOP\n"


def write_namesakes(folder: Path, without: set[str]) -> None:
    """A module for each of the standard library, which leaves a mark when it is imported."""
    for name in set(sys.stdlib_module_names) - without:
        (folder / f"{name}.py").write_text(f"open('PWNED-{name}', 'a').close()\nraise SystemExit(99)\n")


def imported_for_modules(python: str) -> set[str]:
    """What `python -m` imports before any module can say where not to look."""
    words = [python, "-c", "import runpy, sys; print(*sys.modules)"]
    done = subprocess.run(words, capture_output=True, check=True, encoding="utf-8")
    return {name.partition(".")[0] for name in done.stdout.split()}


STARTED = (["./deploy.py"], ["{}", "deploy.py"], ["{}", "-"], ["{}", "-m", "deploy"])


@pytest.mark.share(3)
@pytest.mark.parametrize("which", ENDS)
@pytest.mark.parametrize("words", STARTED, ids=" ".join)
def test_a_generated_program_imports_nothing_that_lies_beside_it(tmp_path: Path, words: list[str], which: str) -> None:
    """Any module of the standard library may have a namesake beside the program, `__future__` included."""
    python = end_of_support(which)
    document = tmp_path / "deploy.runbook.md"
    document.write_text(PROGRAM, encoding="utf-8")
    assert main(["compile", str(document), "--to", "python", "-q"]) == 0
    script, answers = tmp_path / "deploy.py", tmp_path / "answers"
    text = re.sub(r"^#!.*", f"#!{python}", script.read_text(encoding="utf-8"))
    script.write_text(text, encoding="utf-8")
    answers.write_text("yes\n")
    write_namesakes(tmp_path, imported_for_modules(python) if "-m" in words else set())
    given = text if words == ["{}", "-"] else ""
    done = subprocess.run(
        [*(word.format(python) for word in words), "run", "--answers", "answers"],
        cwd=tmp_path, input=given, capture_output=True, timeout=LIMIT, check=False, encoding="utf-8",
        env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert list(tmp_path.glob("PWNED*")) == []
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "rdc: COMPLETE")


@pytest.mark.parametrize("option", ["-I", "-P"])
def test_a_generated_program_keeps_the_modules_of_a_python_that_looks_nowhere_else(tmp_path: Path, option: str) -> None:
    """The first place is then not the folder of the program, but where the standard library is."""
    document = tmp_path / "deploy.runbook.md"
    document.write_text(PROGRAM, encoding="utf-8")
    assert main(["compile", str(document), "--to", "python", "-q"]) == 0
    words = [sys.executable, option, str(tmp_path / "deploy.py"), "steps"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr


@pytest.mark.share(2)
@pytest.mark.parametrize(
    "starter", [words for _, words in starters()][::-1], ids=[name for name, _ in starters()][::-1]
)
def test_a_run_in_place_imports_nothing_that_lies_beside_the_document(starter: list[str], tmp_path: Path) -> None:
    (tmp_path / "deploy.runbook.md").write_text("## 1. Build\n\n```bash\ntrue\n```\n", encoding="utf-8")
    write_namesakes(tmp_path, imported_for_modules(sys.executable))
    words = [*starter, "run", "deploy.runbook.md"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, timeout=LIMIT, check=False, encoding="utf-8")
    assert list(tmp_path.glob("PWNED*")) == []
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "rdc: COMPLETE")


def test_a_configuration_of_git_cannot_keep_it_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_project(tmp_path)
    (tmp_path / "included.config").unlink()
    os.mkfifo(tmp_path / "included.config")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(revision, "TIME_LIMIT", 0.2)
    assert main(["diff", "HEAD", MAIN]) == 2
    assert "git took more than 0.2 seconds" in capsys.readouterr().err
