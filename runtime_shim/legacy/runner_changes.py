"""What a run on GitHub has changed in the workspace, as one file for the job that asks for it to be taken over.

Agents may have written into the repository's own settings, so git is told none of the secrets.
"""

import base64
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from runtime_shim.legacy.program import EXIT_COMPLETE, RefusedError, Table
from runtime_shim.legacy.runner_calls import STEPS, masked
from runtime_shim.legacy.runner_says import one_line, output
from runtime_shim.legacy.runner_state import read_state

CHANGES = "changes.json"
LARGEST_CHANGES = 1_400_000  # bytes of all files that were changed
PLAIN_MODES = ("100644", "100755")  # modes of files that are neither links nor repositories
WORKFLOW_FILES = ".github/workflows/"  # which no token of a workflow may change


def collect_changes(program: Table, folder: Path, _others: list[str]) -> int:
    """Write the file, and say its name, if this job has come to the good end and something has changed."""
    if read_state(program, folder / "state").end != "COMPLETE":
        return EXIT_COMPLETE
    found = list(changed_files(folder))
    if not found:
        print("Nothing was changed in the workspace.", flush=True)
        return EXIT_COMPLETE
    path = folder.with_name("rdc-artifact")
    path.mkdir(exist_ok=True)
    (path / CHANGES).write_text(json.dumps(found), encoding="ascii")
    print(f"Changed: {', '.join(one_line(change['path']) for change in found)}", flush=True)
    output("name", CHANGES)
    return EXIT_COMPLETE


def changed_files(folder: Path) -> Iterator[Table]:
    """Return each file that is another than in the commit of the run, those that git ignores aside."""
    base, size = os.environ["GITHUB_SHA"], 0
    run_git(folder, "read-tree", base)
    run_git(folder, "add", "--all")
    fields = run_git(folder, "diff-index", "--cached", "--raw", "-z", "--no-renames", "--full-index", base).split(b"\0")
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
        content = run_git(folder, "cat-file", "blob", blob)
        size += len(content)
        if size > LARGEST_CHANGES:
            raise RefusedError(f"more than {LARGEST_CHANGES:,} bytes were changed in the workspace")
        yield {"path": path, "mode": mode, **content_in_json(path, content)}


def content_in_json(path: str, content: bytes) -> Table:
    """Return the content of a file as a text, or else by its bytes; one with a secret in it goes nowhere."""
    text = content.decode("utf-8", "replace")
    if masked(text) != text or masked(path) != path:
        raise RefusedError(f"{one_line(masked(path))} holds a secret, so what was changed is not proposed")
    return {"text": text} if text.encode() == content else {"base64": base64.b64encode(content).decode("ascii")}


def run_git(folder: Path, *words: str) -> bytes:
    """Run git on the workspace, with an index of its own."""
    hidden = re.compile(r"GIT_.*|RDC_.*|ACTIONS_.*|GITHUB_(TOKEN|OUTPUT|ENV|PATH|STEP_SUMMARY|STATE)")
    secrets = set(os.environ.get("RDC_SECRETS", "").split())
    kept = {name: value for name, value in os.environ.items() if name not in secrets and not hidden.fullmatch(name)}
    settings = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false")
    environment = {**kept, "GIT_INDEX_FILE": str(folder / "index")}
    done = subprocess.run(["git", *settings, *words], env=environment, capture_output=True, check=False)  # noqa: S603, S607
    if done.returncode:
        raise RefusedError(f"git {words[0]} failed: {one_line(done.stderr.decode('utf-8', 'replace'))}")
    return done.stdout


STEPS["changes"] = collect_changes
