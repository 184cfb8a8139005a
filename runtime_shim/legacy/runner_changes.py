"""What a run on GitHub has changed in the workspace, as one file for the job that asks for it to be taken over.

Agents may have written into the repository's own settings. So git reads the files of the workspace with a repository of
its own, which has no settings, and the step that runs it knows no secrets: a later one looks for these.
"""

import base64
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from runtime_shim.legacy.program import EXIT_COMPLETE, RefusedError, Table
from runtime_shim.legacy.runner_calls import STEPS, masked
from runtime_shim.legacy.runner_says import one_line, output
from runtime_shim.legacy.runner_state import read_state
from runtime_shim.legacy.values import read_regular

CHANGES = "changes.json"
LARGEST_CHANGES = 1_400_000  # bytes of all files that were changed
PLAIN_MODES = ("100644", "100755")  # modes of files that are neither links nor repositories
PLAIN = "* -text -filter -ident -eol !working-tree-encoding\n"  # comes before what files of the workspace say
SETTINGS = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
}
WORKFLOW_FILES = ".github/workflows/"  # which no token of a workflow may change


def collect_changes(program: Table, folder: Path, _others: list[str]) -> int:
    """Write the file, if this job has come to the good end and something has changed."""
    if read_state(program, folder / "state").end != "COMPLETE":
        return EXIT_COMPLETE
    with tempfile.TemporaryDirectory() as own:
        found = list(changed_files(Path(own)))
    if not found:
        print("Nothing was changed in the workspace.", flush=True)
        return EXIT_COMPLETE
    path = folder.with_name("rdc-artifact")
    path.mkdir(exist_ok=True)
    (path / CHANGES).write_text(json.dumps(found), encoding="ascii")
    print(f"Changed: {', '.join(one_line(change['path']) for change in found)}", flush=True)
    return EXIT_COMPLETE


def release_changes(_program: Table, folder: Path, _others: list[str]) -> int:
    """Say the name of the file, if there is one: it goes out unless there is a secret in it."""
    path = folder.with_name("rdc-artifact") / CHANGES
    if path.exists():
        for change in json.loads(read_regular(path)):
            check_secrets(change)
        output("name", CHANGES)
    return EXIT_COMPLETE


def check_secrets(change: Table) -> None:
    """Refuse a file with a secret in its name or content."""
    path, data = change["path"], base64.b64decode(change.get("base64", ""))
    text = change.get("text") or data.decode("utf-8", "replace")
    if masked(text) != text or masked(path) != path:
        raise RefusedError(f"{one_line(masked(path))} holds a secret, so what was changed is not proposed")


def changed_files(own: Path) -> Iterator[Table]:
    """Return each file that is another than in the commit of the run, those that git ignores aside.

    `own` is an empty folder for the repository by which git looks.
    """
    base, size = os.environ["GITHUB_SHA"], 0
    run_git(own, "init", "-q", "--bare", "--template=")
    (own / "info").mkdir(exist_ok=True)
    (own / "info" / "attributes").write_text(PLAIN, encoding="ascii")
    run_git(own, "read-tree", base)
    tree = (
        entry.split(b"\t", 1) for entry in run_git(own, "ls-tree", "-rz", "--full-tree", base).split(b"\0") if entry
    )
    within = [b":(exclude,literal)" + path for about, path in tree if about.startswith(b"160000 ")]
    run_git(own, "add", "--all", "--", ".", *map(os.fsdecode, within))  # git would ask repositories about themselves
    fields = run_git(own, "diff-index", "--cached", "--raw", "-z", "--no-renames", "--full-index", base).split(b"\0")
    for about, name in zip(fields[::2], fields[1::2]):  # noqa: B905 - Python 3.9 has no `strict`
        _, mode, _, blob, kind = about.decode("ascii").lstrip(":").split(" ")
        path = name.decode("utf-8", "replace")
        if path.startswith(WORKFLOW_FILES):
            raise RefusedError(f"{one_line(path)} was changed, and no workflow may change workflows")
        if kind == "D":
            yield {"path": path, "deleted": True}
            continue
        if mode not in PLAIN_MODES or path.encode() != name:
            raise RefusedError(f"{one_line(path)} is no plain file, or has a name that is not UTF-8")
        content = run_git(own, "cat-file", "blob", blob)
        size += len(content)
        if size > LARGEST_CHANGES:
            raise RefusedError(f"more than {LARGEST_CHANGES:,} bytes were changed in the workspace")
        yield {"path": path, "mode": mode, **content_in_json(content)}


def content_in_json(content: bytes) -> Table:
    """Return the content of a file as a text, or else by its bytes."""
    text = content.decode("utf-8", "replace")
    return {"text": text} if text.encode() == content else {"base64": base64.b64encode(content).decode("ascii")}


def run_git(own: Path, *words: str) -> bytes:
    """Run git on the workspace, as the work tree of a repository of its own."""
    hidden = re.compile(r"GIT_.*|RDC_.*|ACTIONS_.*|GITHUB_(TOKEN|OUTPUT|ENV|PATH|STEP_SUMMARY|STATE)")
    kept = {name: value for name, value in os.environ.items() if not hidden.fullmatch(name)}
    environment = {**kept, **SETTINGS, "GIT_DIR": str(own)}
    if words[0] != "init":
        objects = str(Path(".git", "objects").absolute())
        environment.update(GIT_WORK_TREE=str(Path.cwd()), GIT_ALTERNATE_OBJECT_DIRECTORIES=objects)
    done = subprocess.run(["git", *words], env=environment, capture_output=True, check=False)  # noqa: S603, S607
    if done.returncode:
        raise RefusedError(f"git {words[0]} failed: {one_line(done.stderr.decode('utf-8', 'replace'))}")
    return done.stdout


STEPS["changes"] = collect_changes
STEPS["release-changes"] = release_changes
