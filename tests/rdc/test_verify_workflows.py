"""`rdc verify` of workflows that call the program: the pins hold, and no step is one that rdc does not write."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from backends.github import GithubBackend
from backends.github.verify import Called, verify_calls
from compiler.driver import compile_file
from rdc.output.generate import emitted
from tests.support.cli import ROOT, call

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
WORKFLOW = ".github/workflows/deploy.yml"


def compiled(folder: Path, *, has_source: bool, options: tuple[str, ...] = ()) -> Path:
    """A workflow in its repository."""
    (folder / "deploy.runbook.md").write_text(DOCUMENT, encoding="utf-8")
    (folder / WORKFLOW).parent.mkdir(parents=True)
    words = [word for option in ("prompts=answers", *options) for word in ("-O", option)]
    made = call("compile", "deploy.runbook.md", "--to", "github", *words, "-o", WORKFLOW, cwd=folder)
    assert made.code == 0, made.err
    if not has_source:
        (folder / "deploy.runbook.md").unlink()
    return folder / WORKFLOW


@pytest.mark.parametrize("options", [(), ("program=lib/p.py",), ("parallel=matrix",)], ids=" ".join)
def test_a_workflow_its_program_and_the_runtime_are_proven_together(options: tuple[str, ...], tmp_path: Path) -> None:
    compiled(tmp_path, has_source=True, options=options)
    assert call("verify", WORKFLOW, cwd=tmp_path).code == 0
    (tmp_path / "deploy.runbook.md").unlink()
    found = call("verify", WORKFLOW, cwd=tmp_path)
    assert (found.code, "unchanged, source not compared" in found.out) == (3, True), found.out


def test_a_workflow_that_has_the_program_in_it_is_proven_only_by_the_source(tmp_path: Path) -> None:
    compiled(tmp_path, has_source=False, options=("runtime=inline",))
    found = call("verify", WORKFLOW, cwd=tmp_path)
    assert (found.code, "only the source proves this file" in found.out) == (3, True), found.out


@pytest.mark.parametrize("has_source", [True, False])
@pytest.mark.parametrize("which", ["deploy.py", "rdc_runtime_*.py", "rdc_github_*.py"])
@pytest.mark.parametrize("is_gone", [True, False])
def test_a_pin_that_does_not_hold_is_found(has_source: bool, which: str, is_gone: bool, tmp_path: Path) -> None:
    compiled(tmp_path, has_source=has_source)
    (victim,) = (tmp_path / ".github" / "rdc").glob(which)
    if is_gone:
        victim.unlink()
    else:
        victim.write_bytes(victim.read_bytes() + b"#\n")
    found = call("verify", WORKFLOW, cwd=tmp_path)
    assert (found.code, victim.name in found.out) == (1, True), found.out


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
    "an option": (
        "          CALL: step",
        "          RDC_OPTIONS: --agent=${{ github.head_ref }}\n          CALL: step",
    ),
    "another call": ("CALL: open", "CALL: other"),
    "a container": ("    runs-on:", "    container: other\n    runs-on:"),
    "a shell of a job": ("    runs-on:", "    defaults:\n      run:\n        shell: bash {0}\n    runs-on:"),
}

WHOLE = {
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


@pytest.mark.parametrize("change", WHOLE.values(), ids=WHOLE)
def test_a_step_of_rdc_is_compared_as_a_whole(change: tuple[str, str], tmp_path: Path) -> None:
    code, said = verified_after(change, tmp_path)
    assert (code, "it has steps or settings that rdc does not write" in said) == (3, True), said


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


@pytest.mark.parametrize("options", MANY, ids=lambda options: " ".join(options) or "none")
def test_all_that_rdc_writes_is_known(options: dict[str, object]) -> None:
    backend, count = GithubBackend(), 0
    for path in sorted(path for path in (ROOT / "examples").rglob("*") if path.name.endswith(DOCUMENTS)):
        product = emitted(compile_file(str(path)), backend, options, backend.emit).products[0]
        called = verify_calls(product.data.decode()) if product else None
        count += called is not None
        assert called is None or (isinstance(called, Called) and called.is_known), path
    assert count


@pytest.mark.parametrize("part", ["github.event.a", "steps.a.outputs.acontains("])
def test_a_long_condition_is_read_soon(part: str, tmp_path: Path) -> None:
    begun = time.monotonic()
    code, said = verified_after(("    steps:\n", f"    if: {part * 60};\n    steps:\n"), tmp_path)
    assert (code, "does not write" in said) == (3, True), said
    assert time.monotonic() - begun < 20


def test_many_jobs_are_compared_soon(tmp_path: Path) -> None:
    begun = time.monotonic()
    more = "".join(f"  j{number}: {{}}\n" for number in range(3000))
    code, said = verified_after(("jobs:\n", f"jobs:\n{more}"), tmp_path)
    assert (code, "does not write" in said) == (3, True), said
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize("change", LOADERS.values(), ids=LOADERS)
def test_another_loader_is_found_without_the_source(change: tuple[str, str], tmp_path: Path) -> None:
    found = verified_after(change, tmp_path)
    assert found[0] == 1, found[1]


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_what_rdc_does_not_write_is_proven_only_by_the_source(change: tuple[str, str], tmp_path: Path) -> None:
    code, said = verified_after(change, tmp_path)
    assert (code, "only the source proves this file" in said, "unchanged" in said) == (3, True, False), said


def verified_after(change: tuple[str, str], folder: Path) -> tuple[int, str]:
    """What is said of a workflow without its source, after a change."""
    path = compiled(folder, has_source=False)
    text = path.read_text(encoding="utf-8")
    assert change[0] in text
    path.write_text(text.replace(*change, 1), encoding="utf-8")
    found = call("verify", WORKFLOW, cwd=folder)
    return found.code, found.out
