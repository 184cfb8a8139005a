"""`rdc verify` of workflows and Makefiles that call the program, of Makefiles that walk a runbook, and of pictures."""

import shlex
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from backends.common.command import drawing_command, read_command
from backends.github import GithubBackend
from backends.github.verify import Called, verify_calls
from compiler.driver import Compilation, compile_file
from rdc.draw.graphviz import HYPHENS
from rdc.output.generate import emitted
from tests.rdc.verified import compiled
from tests.support.cli import GOOD, ROOT, call, document

pytestmark = pytest.mark.process

DOCUMENTS = (".runbook.md", ".playbook.md", ".workflow.yaml", ".stepspec.yaml", ".stepspec.json")

DOCUMENT = """\
---
rdc:
  secrets: [KEY]
---
# Deploy
## 1. Build
```sh
make build
```
## 2. Is it good?
Look at the build.
- YES: COMPLETE
- NO: STOP
"""
SLOW = "---\nrdc:\n  steps:\n    '1': {timeout: 10m}\n---\n# Slow\n\n## 1. Wait\n\n```sh\ntrue # `$(x)` \\\n```\n"
WALKED = (
    '# Try\n\n## 1. Try\n\nTry it `now`.\n\n```sh\necho try\n```\n\n- PASS: GOTO 2\n- FAIL: RETRY 2 STOP "It\'s over"\n'
    "\n## 2. Ask\n\nIs it?\n"
)
WORKFLOW = ".github/workflows/deploy.yml"


def words(*options: str) -> list[str]:
    return [word for option in options for word in ("-O", option)]


def workflow(folder: Path, *options: str) -> Path:
    return compiled(folder, "github", *words("prompts=answers", *options), text=DOCUMENT, out=WORKFLOW)


def calling(folder: Path, *options: str) -> Path:
    """A Makefile that calls the program."""
    return compiled(folder, "make", *words(*options), text=SLOW)


def walking(folder: Path, *options: str) -> Path:
    """A Makefile that walks a runbook by itself."""
    return compiled(folder, "make", *words(*options), text=WALKED)


KNOWN: list[tuple[Callable[..., Path], tuple[str, ...], int, str]] = [
    (workflow, (), 3, "unchanged, source not compared"),
    (workflow, ("program=lib/p.py",), 3, "unchanged, source not compared"),
    (workflow, ("parallel=matrix",), 3, "unchanged, source not compared"),
    (workflow, ("runtime=inline",), 0, "only the source proves this file"),
    (calling, (), 3, "source not compared"),
    (calling, ("state-dir=state", "operator=full"), 3, "source not compared"),
    (calling, ("program=lib/p.py",), 3, "source not compared"),
    (walking, (), 0, "loop unchanged, source not compared"),
    (walking, ("state-dir=/var/state",), 0, "loop unchanged, source not compared"),
]
"""What is compiled, how many files it calls, and what is printed of it without its source."""


@pytest.mark.parametrize(("made", "options", "companions", "printed"), KNOWN)
def test_it_is_proven_together_with_what_it_calls_and_known_without_the_source(
    made: Callable[..., Path], options: tuple[str, ...], companions: int, printed: str, tmp_path: Path
) -> None:
    path = made(tmp_path, *options)
    called = list(tmp_path.rglob("*.py"))
    assert len(called) == companions
    assert call("verify", str(path), *map(str, called), cwd=tmp_path).code == 0
    (tmp_path / "deploy.runbook.md").unlink()
    assert printed in call("verify", str(path), cwd=tmp_path).exits(3).out


@pytest.mark.parametrize(
    ("target", "which"),
    [
        *(("github", name) for name in ("deploy.py", "rdc_runtime_*.py", "rdc_github_*.py")),
        *(("make", name) for name in ("deploy.py", "rdc_runtime_*.py", "rdc_make_*.py")),
    ],
)
@pytest.mark.parametrize("how", ["changed", "gone", "marked"])
def test_a_pin_that_does_not_hold_is_found(target: str, which: str, how: str, tmp_path: Path) -> None:
    """With the source, and without it."""
    path = workflow(tmp_path) if target == "github" else calling(tmp_path)
    (victim,) = tmp_path.rglob(which)
    if how == "gone":
        victim.unlink()
    else:
        victim.write_bytes(b"\xef\xbb\xbf" * (how == "marked") + victim.read_bytes() + b"#\n" * (how == "changed"))
    for _ in range(2):
        assert f"rdc/{victim.name}" in call("verify", path.relative_to(tmp_path).as_posix(), cwd=tmp_path).exits(1).out
        (tmp_path / "deploy.runbook.md").unlink(missing_ok=True)


LOADERS = {
    "what is checked": ("  -' ] ||", "  -' ] || true ||"),
    "what is executed": ('"$RDC_PROGRAM")\n', '"$RDC_PROGRAM"; echo x)\n'),
    "the interpreter": ("/usr/bin/python3 -I", "/usr/bin/python3"),
    "the path": (".github/rdc/deploy.py)", ".github/rdc/../deploy.py)"),
    "the path of the program": ("- .github/rdc/deploy.py", "- .github/rdc/other.py"),
    "no YAML": ("jobs:\n", "jobs:\n\t"),
}
STEP = "      - name: Close the run\n"
OTHERS = {
    "a step of its own": (STEP, f"      - name: More\n        shell: bash\n        run: touch x\n{STEP}"),
    "a shell of a step": (STEP, f"{STEP}        shell: bash {{0}}\n"),
    "another shell": ("shell: bash -p {0}", "shell: bash {0}"),
    "another script": ("        run: *rdc\n", "        run: touch x\n"),
    "another action": ("uses: actions/checkout@", "uses: other/checkout@"),
    "another repository": ("persist-credentials: false", "persist-credentials: false\n          repository: other/one"),
    "a variable of the job": ("    runs-on:", "    env:\n      LD_PRELOAD: ./x.so\n    runs-on:"),
    "a variable of a step": ("          CALL: step", "          LD_PRELOAD: ./x.so\n          CALL: step"),
    "an agent": ("          CALL: step", "          RDC_AGENT: ./x\n          CALL: step"),
    "option": ("          CALL: step", "          RDC_OPTIONS: --agent=${{ github.head_ref }}\n          CALL: step"),
    "another call": ("CALL: open", "CALL: other"),
    "a container": ("    runs-on:", "    container: other\n    runs-on:"),
    "a shell of a job": ("    runs-on:", "    defaults:\n      run:\n        shell: bash {0}\n    runs-on:"),
    "more in an upload": ("rdc-kept\n          overwrite", "rdc-kept ~/.ssh\n          overwrite"),
    "another artifact": ("name: ${{ steps.check.outputs.artifact }}", "name: other"),
    "a download over the workspace": ("rdc-kept\n          run-id", "rdc-x/../../repo\n          run-id"),
    "a condition of the check": ("if: inputs.resume\n        env:", "if: false\n        env:"),
    "a condition of the load": ("if: inputs.resume\n        uses:", "if: always()\n        uses:"),
    "a condition of a step": ("      - name: 1. Build\n", "      - name: 1. Build\n        if: false\n"),
    "a condition of the end": ("if: ${{ !cancelled() }}", "if: failure()"),
    "a secret that is not hidden": ("          RDC_SECRETS: KEY\n", ""),
    "a secret that no step has": ("CALL: step 1\n", "CALL: step 1\n          X: ${{ secrets.OTHER }}\n"),
    "a fixed reply": ("RDC_ANSWERS: ${{ inputs.answers }}", "RDC_ANSWERS: 2 yes"),
    "a token for the document": ("CALL: step 1\n", "CALL: step 1\n          RDC_TOKEN: ${{ github.token }}\n"),
    "another folder": ("defaults:\n  run:\n", "defaults:\n  run:\n    working-directory: other\n"),
    "another trigger": ("on:\n", "on:\n  pull_request_target:\n"),
    "a permission of all jobs": ("permissions: {}", "permissions: write-all"),
    "all permissions of a job": (
        "    permissions:\n      contents: read # check out the repository\n",
        "    permissions: write-all\n    x:\n",
    ),
    "an output of a job": ("    steps:\n", "    outputs:\n      x: ${{ secrets.KEY }}\n    steps:\n"),
}


def verified_after(change: tuple[str, str], folder: Path, path: Path | None = None) -> tuple[int, str]:
    """What is printed of a workflow or a Makefile without its source, after a change."""
    path = path or workflow(folder)
    (folder / "deploy.runbook.md").unlink()
    text = path.read_text(encoding="utf-8")
    assert change[0] in text
    path.write_text(text.replace(*change, 1), encoding="utf-8")
    found = call("verify", str(path), cwd=folder)
    return found.code, found.out


@pytest.mark.parametrize("change", LOADERS.values(), ids=LOADERS)
def test_another_loader_is_found_without_the_source(change: tuple[str, str], tmp_path: Path) -> None:
    assert verified_after(change, tmp_path)[0] == 1


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_what_rdc_does_not_write_is_proven_only_by_the_source(change: tuple[str, str], tmp_path: Path) -> None:
    code, printed = verified_after(change, tmp_path)
    assert (code, "it has steps or settings that rdc does not write" in printed) == (3, True), printed
    assert ("only the source proves this file" in printed, "unchanged" in printed) == (True, False), printed


SLOW_ONES = {
    "a path": ("    steps:\n", f"    if: {'github.event.a' * 60};\n    steps:\n"),
    "calls": ("    steps:\n", f"    if: {'steps.a.outputs.acontains(' * 60};\n    steps:\n"),
    "jobs": ("jobs:\n", "jobs:\n" + "".join(f"  j{number}: {{}}\n" for number in range(3000))),
}


@pytest.mark.parametrize("change", SLOW_ONES.values(), ids=SLOW_ONES)
def test_a_long_condition_and_many_jobs_are_compared_soon(change: tuple[str, str], tmp_path: Path) -> None:
    begun = time.monotonic()
    code, printed = verified_after(change, tmp_path)
    assert (code, "does not write" in printed) == (3, True), printed
    assert time.monotonic() - begun < 20


MANY: tuple[dict[str, object], ...] = (
    {},
    {"approval-environment": "live", "agent": "x"},
    {"prompts": "agent", "agent": "claude -p", "agent-calls": 5, "agent-retries": 2},
    {
        "agent": {"run": "claude -p", "secrets": ["K"]},
        "secrets": ["K"],
        "tools": {"github": "./g", "metrics": "./m", "crm": "x"},
        "parallel": "matrix",
        "publish": ["summary", "artifact", "comment"],
        "on": ["issues", "pull_request", "workflow_dispatch"],
        "retention-days": 3,
    },
    {"agent": "x", "publish": "pull-request", "environment": "live", "executor": "make", "on": "workflow_call"},
    {"agent": "x", "on": ["issue_comment", "issues", "push"], "if-author": ["OWNER", "MEMBER"]},
)


@cache
def examples() -> list[Compilation]:
    paths = sorted(path for path in (ROOT / "examples").rglob("*") if path.name.endswith(DOCUMENTS))
    return [compile_file(str(path)) for path in paths]


@pytest.mark.parametrize("part", [range(1), pytest.param(range(1, 3), marks=pytest.mark.soak)])
@pytest.mark.parametrize("number", range(len(MANY)), ids=lambda number: " ".join(MANY[number]) or "none")
def test_all_that_rdc_writes_is_known(number: int, part: range) -> None:
    """Of the examples, a third with each of the options, and each example with some of them; soak has the others."""
    backend, options, count = GithubBackend(), MANY[number], 0
    third = range(3) if "tools" in options else part  # few examples have these tools
    for compilation in (one for place, one in enumerate(examples()) if (place + number) % 3 in third):
        product = emitted(compilation, backend, options, backend.emit).products[0]
        called = verify_calls(product.data.decode()) if product else None
        count += called is not None
        assert called is None or (isinstance(called, Called) and called.is_known), compilation
    assert count


# --- `rdc verify` with an SVG: its header says how it was drawn, and the source, drawn again, proves it ---------------


def picture(folder: Path, *options: str, name: str = "deploy.runbook.md") -> Path:
    (folder / ".git").mkdir(exist_ok=True)
    document(folder, name, GOOD)
    call("graph", name, *options, "-o", "flow.svg", cwd=folder).exits(0)
    return folder / "flow.svg"


@pytest.mark.parametrize(
    "options",
    [(), ("--theme", "light"), ("--theme", "dark", "--no-legend"), ("--link-base", "https://example.org/a--b")],
)
@pytest.mark.usefixtures("drawn_once")
def test_source_proves_a_picture(options: tuple[str, ...], tmp_path: Path) -> None:
    path = picture(tmp_path, *options, name="a--b c.runbook.md")
    assert "flow.svg: matches a--b c.runbook.md, drawn with rdc" in call("verify", path.name, cwd=tmp_path).exits(0).out
    before = path.read_text(encoding="utf-8")
    path.unlink()
    call(*shlex.split(before.split("\n")[4].replace(HYPHENS, "--"))[2:-1], cwd=tmp_path).exits(0)
    assert path.read_text(encoding="utf-8") == before, "the command in its header writes it again"


@pytest.mark.usefixtures("drawn_once")
def test_a_picture_with_another_word_or_layout_or_of_another_source(tmp_path: Path) -> None:
    path = picture(tmp_path)
    text = path.read_text(encoding="utf-8")
    for change, code, words in (
        ((">1 Build<", ">1 Evil<"), 1, "differs from the picture of deploy.runbook.md"),
        ((' points="', ' points="1'), 2, "another version of Graphviz"),
    ):
        path.write_text(text.replace(*change, 1), encoding="utf-8")
        assert words in call("verify", path.name, cwd=tmp_path).exits(code).out
    path.write_text(text, encoding="utf-8")
    document(tmp_path, "deploy.runbook.md", GOOD.replace("Build", "Make"))
    assert "the source has changed" in call("verify", path.name, cwd=tmp_path).exits(3).out


def test_a_picture_cannot_be_verified_without_graphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = picture(tmp_path)
    document(tmp_path, "bin/dot", "#!/bin/sh\nexit 1\n").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    assert "rdc can't draw it again: Graphviz failed" in call("verify", path.name, cwd=tmp_path).exits(2).out


@pytest.mark.parametrize(
    ("compiling", "drawing"),
    [
        ("rdc compile a.md --to dot", "rdc graph a.md"),
        ("rdc compile a.md --from json -O legend=false --to dot", "rdc graph a.md --from json --no-legend"),
        ("rdc compile a.md --from json -o g/b.dot --to dot", "rdc graph a.md --from json -o g/b.dot"),
        ("rdc compile a.md -O boxes=steps -O theme=dark --to dot", "rdc graph a.md --steps --theme dark"),
    ],
)
def test_the_command_that_draws_is_that_of_the_graph(compiling: str, drawing: str) -> None:
    command, drawn = read_command(compiling), read_command(drawing)
    assert command
    assert drawn
    assert drawing_command(command, "svg") == drawing
    assert drawing_command(command, "png") == f"{drawing} --format png"
    assert (drawn.options, drawn.read_by, drawn.is_drawn) == (command.options, command.read_by, True)


CHANGES = {
    "a recipe": ("step-1: ;", "step-1: ; rm -rf x; #"),
    "another call": ("$(call RDC_CALL,step,1)", "$(call RDC_CALL,step,$(shell x))"),
    "a target more": ("step-1: ;", "run: x\nx: ; touch x\nstep-1: ;"),
    "the script": ('exec "$@"', 'touch x; exec "$@"'),
    "a variable": ("SHELL = /bin/sh", "SHELL = /tmp/sh"),
    "what is checked": ('[ "${found%% *}" = "$sha256" ]', "[ 1 = 1 ]"),
    "the header": ("# Needs GNU make", "$(shell x)\n# Needs GNU make"),
    "behind it all": ('exec "$@"\nendef\n', 'exec "$@"\nendef\nrun: x\n'),
    "lines in the reason": ("`make` starts", "`make\n$(shell x)\n# ` starts"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_nothing_but_comments_and_targets_gets_by_without_the_source(change: tuple[str, str], tmp_path: Path) -> None:
    code, printed = verified_after(change, tmp_path, calling(tmp_path))
    assert (code, "which is another" in printed) == (1, False), printed


def test_a_companion_that_is_stale_is_found_by_check(tmp_path: Path) -> None:
    path = calling(tmp_path)
    words = ("compile", "deploy.runbook.md", "--to", "make", "--check")
    current = call(*words, "--strict", cwd=tmp_path).exits(0)
    assert "note[RD539]: step 1 has a time limit: deploy.mk calls rdc/deploy.py\n" in current.err
    for victim in (tmp_path / "rdc").glob("*.py"):
        whole = victim.read_bytes()
        victim.write_bytes(whole + b"#\n")
        assert f"rdc/{victim.name}" in call(*words, cwd=tmp_path).exits(1).err
        victim.write_bytes(whole)
    path.write_text(path.read_text(encoding="utf-8").replace("#   sh:", "#   other:"), encoding="utf-8")
    assert call("verify", path.name, cwd=tmp_path).code == 1
    (tmp_path / "deploy.runbook.md").unlink()
    assert call("verify", path.name, cwd=tmp_path).code == 3, "only the source proves comments"


BENT = {
    "the loop": ("\nfail() {", "\nfail() { touch x; "),
    "behind the loop": ('"$rdc_end"\nendef\n', '"$rdc_end"\nendef\nrun: x\n'),
    "a recipe": ("\t@exec $(SHELL)", "\t@touch x; exec $(SHELL)"),
    "a list": ("RDC_STEPS := 1 2", "RDC_STEPS := 1 2 $(shell x)"),
    "the state": ("RDC_STATE := .rdc", "RDC_STATE := $(shell x)/.rdc"),
    "a line of make": ("title-1 =", "x := $(shell x)\ntitle-1 ="),
    "another loop": ("title-1 =", "override define RDC_LOOP\ntouch x\nendef\ntitle-1 ="),
    "a rule": ("title-1 =", "run: ; touch x\ntitle-1 ="),
    "a prerequisite": ("step-1:", "step-1: x"),
    "a comment that continues": ("\n# Try it", "\n# Try it \\\n"),
    "a comment that continues before a carriage return": ("\n# Try it", "\n# Try it \\\r\n"),
    "an expansion in a title": ("= 1 Try", "= 1 $(shell x)"),
    "an expansion in a command": ("\techo try", "\techo $(shell x)"),
    "an expansion in the flow": ("go 2", "go $(shell x)"),
    "an expansion in braces": ("go 2", "go ${RDC_ID}"),
    "a short expansion": ("go 2", "go $@"),
    "another shell": ("SHELL := sh", "SHELL := x"),
    "a block in a block": ("Is it?", "define x"),
    "an end of a block": ("Is it?", "endef # x"),
    "a block that has no end": ("Is it?", "Is it \\"),
    "another block": ("define do-2", "define RDC_DO"),
}


@pytest.mark.parametrize("change", BENT.values(), ids=BENT)
def test_nothing_but_texts_gets_by_without_the_source(change: tuple[str, str], tmp_path: Path) -> None:
    assert verified_after(change, tmp_path, walking(tmp_path))[0] == 1
