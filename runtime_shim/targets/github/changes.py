"""What jobs hand on: the changes of a run in the workspace as one file, and the answers of entries.

Agents may have changed the repository's settings. So git reads the workspace with a separate repository
without settings, in a step without secrets. A later step searches for secrets.
"""

import base64
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any, Callable, NamedTuple

from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.texts import one_line
from runtime_shim.targets.github.api import HaltError
from runtime_shim.targets.github.messages import plain

CHANGES = "changes.json"
LARGEST_CHANGES = 1_400_000  # bytes of all changed files
PLAIN_MODES = ("100644", "100755")  # no links or repositories
PLAIN_FILES = "* -text -filter -ident -eol !working-tree-encoding\n"  # overrides files of the workspace
SETTINGS = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
}
WORKFLOW_FILES = ".github/workflows/"  # a workflow's token may not change them
OF_THE_JOB = r"GIT_.*|RDC_.*|ACTIONS_.*|GITHUB_(TOKEN|OUTPUT|ENV|PATH|STEP_SUMMARY|STATE)"


def collect_changes(folder: str) -> str:
    """Write the changes into a directory and return a summary."""
    with tempfile.TemporaryDirectory() as own:
        found = list(changed_files(own))
    if not found:
        return "Nothing changed in the workspace."
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, CHANGES), "w", encoding="ascii") as file:
        json.dump(found, file)
    return f"Changed: {', '.join(one_line(change['path']) for change in found)}"


def check_secrets(folder: str, masked: Callable[[str], str]) -> bool:
    """Return whether there are changes; refuse those with a secret in a file's name or content."""
    path = os.path.join(folder, CHANGES)
    if not os.path.exists(path):
        return False
    with open(path, encoding="ascii") as file:
        changes = json.load(file)
    for change in changes:
        data = base64.b64decode(change.get("base64", ""))
        text = change.get("text") or data.decode("utf-8", "replace")
        if masked(text) != text or masked(change["path"]) != change["path"]:
            name = one_line(masked(change["path"]))
            raise UsageError(f"{name} contains a secret, so the changes are not proposed")
    return True


def changed_files(own: str) -> Iterator[Table]:
    """Return each file that differs from the run's commit, except those that git ignores.

    `own` is an empty directory for git's separate repository.
    """
    base, size = os.environ["GITHUB_SHA"], 0
    run_git(own, "init", "-q", "--bare", "--template=")
    os.makedirs(os.path.join(own, "info"), exist_ok=True)
    with open(os.path.join(own, "info", "attributes"), "w", encoding="ascii") as file:
        file.write(PLAIN_FILES)
    run_git(own, "read-tree", base)
    tree = run_git(own, "ls-tree", "-rz", "--full-tree", base).split(b"\0")
    within = [b":(exclude,literal)" + entry.split(b"\t", 1)[1] for entry in tree if entry.startswith(b"160000 ")]
    run_git(own, "add", "--all", "--", ".", *map(os.fsdecode, within))  # git would query nested repositories
    fields = run_git(own, "diff-index", "--cached", "--raw", "-z", "--no-renames", "--full-index", base).split(b"\0")
    for about, name in zip(fields[::2], fields[1::2]):
        _, mode, _, blob, kind = about.decode("ascii").lstrip(":").split(" ")
        path = name.decode("utf-8", "replace")
        if path.startswith(WORKFLOW_FILES):
            raise UsageError(f"{one_line(path)} was changed, but a workflow may not change workflows")
        if kind == "D":
            yield {"path": path, "deleted": True}
            continue
        if mode not in PLAIN_MODES or path.encode() != name:
            raise UsageError(f"{one_line(path)} is not a plain file, or its name is not UTF-8")
        content = run_git(own, "cat-file", "blob", blob)
        size += len(content)
        if size > LARGEST_CHANGES:
            raise UsageError(f"the changed files have more than {LARGEST_CHANGES:,} bytes")
        yield {"path": path, "mode": mode, **content_in_json(content)}


def content_in_json(content: bytes) -> Table:
    """Return the content of a file as text if possible, otherwise as base64."""
    text = content.decode("utf-8", "replace")
    return {"text": text} if text.encode() == content else {"base64": base64.b64encode(content).decode("ascii")}


def run_git(own: str, *words: str) -> bytes:
    """Run git on the workspace with the separate repository."""
    kept = {name: value for name, value in os.environ.items() if not re.fullmatch(OF_THE_JOB, name)}
    environment = {**kept, **SETTINGS, "GIT_DIR": own}
    if words[0] != "init":
        objects = os.path.abspath(os.path.join(".git", "objects"))
        environment.update(GIT_WORK_TREE=os.getcwd(), GIT_ALTERNATE_OBJECT_DIRECTORIES=objects)
    done = subprocess.run(["git", *words], env=environment, capture_output=True, check=False)
    if done.returncode:
        raise UsageError(f"git {words[0]} failed: {one_line(done.stderr.decode('utf-8', 'replace'))}")
    return done.stdout


ENTRY = "entry"  # the file in an entry's artifact
LONGEST_ANSWER = 1 << 20  # characters
LARGEST_ENTRY = 8 * LONGEST_ANSWER  # bytes; JSON takes up to six for one
ENTRY_FIELDS = {"run", "node", "entry", "attempt", "answer"}


class KeptEntry(NamedTuple):
    """The attempt in which an entry ran, and its answer, if any."""

    attempt: int
    answer: "str | None"


def this_attempt() -> int:
    """Return the number of this attempt at the run."""
    return int(os.environ["GITHUB_RUN_ATTEMPT"])


def keep_entry(path: str, node: str, index: int, answer: "str | None") -> None:
    """Write an entry's answer to a file, even if there is none."""
    about = {"run": os.environ["GITHUB_RUN_ID"], "node": node, "entry": index, "attempt": this_attempt()}
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        json.dump({**about, "answer": answer}, file)


def read_entry(path: str, node: str, index: int, since: int) -> "KeptEntry | None":
    """Return an entry's kept answer from attempt `since` or later; None for an invalid file."""
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST_ENTRY + 1)
        found: Any = json.loads(content) if len(content) <= LARGEST_ENTRY else None
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or set(found) != ENTRY_FIELDS:
        return None
    is_its = [found["run"], found["node"]] == [os.environ["GITHUB_RUN_ID"], node] and found["entry"] == index
    are_numbers = type(found["entry"]) is int and type(found["attempt"]) is int
    if is_its and are_numbers and since <= found["attempt"] <= this_attempt() and _is_answer(found["answer"]):
        return KeptEntry(found["attempt"], found["answer"])
    return None


def _is_answer(value: object) -> bool:
    if value is None:
        return True
    is_text = isinstance(value, str) and 0 < len(value) <= LONGEST_ANSWER and "\0" not in value
    return is_text and not any("\ud800" <= character <= "\udfff" for character in str(value))


def must_join(node: str, place: str, result: str) -> bool:
    """Return whether agents ran in separate jobs; refuse a run that is not where these jobs left it."""
    was_done = result not in ("", "skipped")
    if was_done != (node == place):
        raise HaltError("Elsewhere", f"the run is at {plain(node)}, but its jobs left it elsewhere. Start a new run")
    return was_done


def joined_entries(folder: str, name: str, node: Table, result: str, since: int) -> "list[str | None]":
    """Return the answers of all entries, or refuse if one is missing."""
    found: list[KeptEntry] = []
    lost: list[str] = []
    for index, entry in enumerate(node["entries"]):
        path = os.path.join(folder, str(index), ENTRY)
        kept = read_entry(path, name, index, since)
        if kept is not None:
            found.append(kept)
            continue
        who = f"entry {index} of {name}" + (f" ({plain(entry['agent'])})" if entry["agent"] else "")
        lost.append(f"{who} has no answer: {_why(path, result)}")
    if lost:
        raise HaltError("Lost entry", "; ".join(lost))
    if max(kept.attempt for kept in found) != this_attempt():
        says = "All entries answered in an earlier attempt, which may have continued from here. Start a new run"
        raise HaltError("Re-run", says)
    return [kept.answer for kept in found]


def _why(path: str, result: str) -> str:
    """Return why an entry has no answer, and what to do."""
    if os.path.exists(path):
        return "its file is damaged or from an earlier attempt. Re-run its job"
    if result == "success":
        return "its file could not be fetched. Start a new run"
    return "its job kept nothing. Re-run the failed jobs"
