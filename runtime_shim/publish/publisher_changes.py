"""A pull request with a run's changes in the workspace."""

from __future__ import annotations

import json
import os
import re
from typing import Any

from runtime_shim.publish.publisher import RefusedError, ask, harmless, publish, signed

MODES = ("100644", "100755")
MOST_FILES = 500
SHOWN_FILES = 50  # in the text of the pull request


def propose(_name: str, data: bytes) -> str:
    """Commit the changes to a new branch and open a pull request."""
    if not os.environ["GITHUB_REF"].startswith("refs/heads/"):
        raise RefusedError("the run is not on a branch, so there is no target for a pull request")
    changes, base = checked(data), os.environ["GITHUB_SHA"]
    tree = [entry(change) for change in changes]
    before = ask("GET", f"/git/commits/{base}")["tree"]["sha"]
    after = ask("POST", "/git/trees", {"base_tree": before, "tree": tree})["sha"]
    title = f"Changes by {os.environ['TITLE']}"
    commit = ask("POST", "/git/commits", {"message": title, "tree": after, "parents": [base]})["sha"]
    branch = f"rdc/changes-{os.environ['GITHUB_RUN_ID']}-{os.environ['GITHUB_RUN_ATTEMPT']}"
    ask("POST", "/git/refs", {"ref": f"refs/heads/{branch}", "sha": commit})
    files = [f"    {harmless(change['path'])}" for change in changes[:SHOWN_FILES]]
    files += [f"    and {len(changes) - SHOWN_FILES} more"] if changes[SHOWN_FILES:] else []
    body = "\n".join([f"Agents made these changes. {signed()}", "", *files])
    pull = {"title": title, "head": branch, "base": os.environ["GITHUB_REF_NAME"], "body": body}
    return f"opened the pull request {int(ask('POST', '/pulls', pull)['number'])}"


def checked(data: bytes) -> list[dict[str, Any]]:
    """Return the changes after checking them."""
    wrong = RefusedError("the run's artifact is not a list of changes")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise wrong from None
    if not isinstance(found, list) or not 0 < len(found) <= MOST_FILES or not all(map(is_change, found)):
        raise wrong
    return found


def is_change(change: object) -> bool:
    """Return whether this is a valid change of one file."""
    if not isinstance(change, dict) or not is_path(change.get("path")):
        return False
    if set(change) == {"path", "deleted"}:
        return change["deleted"] is True
    (content,) = {*change} - {"path", "mode"} if len(change) == 3 else {""}
    return change.get("mode") in MODES and content in ("text", "base64") and isinstance(change[content], str)


def is_path(path: object) -> bool:
    """Return whether a path is inside the repository, but not in `.git` or the workflows."""
    if not isinstance(path, str) or not 0 < len(path) <= 1000 or re.search(r"[\0-\x1f\x7f\\]", path):
        return False
    parts = path.lower().split("/")
    return not {"", ".", "..", ".git"} & {*parts} and parts[:2] != [".github", "workflows"]


def entry(change: dict[str, Any]) -> dict[str, Any]:
    """Return a change as an entry of a Git tree; upload binary content first."""
    if "deleted" in change:
        return {"path": change["path"], "mode": "100644", "type": "blob", "sha": None}
    about = {"path": change["path"], "mode": change["mode"], "type": "blob"}
    if "text" in change:
        return {**about, "content": change["text"]}
    return {**about, "sha": ask("POST", "/git/blobs", {"content": change["base64"], "encoding": "base64"})["sha"]}


def publish_changes() -> int:
    """Publish the changes as a pull request."""
    return publish("pull-request", propose)
