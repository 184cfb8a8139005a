"""Publishing the last output of a run as a comment, in a summary, or as a pull request.

The output comes from an agent, and so from anyone who could influence it. It must be inert.
"""

import base64
import json
import os
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import quote

LONGEST = 60_000  # characters; GitHub takes 65,536
LARGEST_FILE = 2 * 1024 * 1024  # bytes
GAP = "\u200b"  # invisible; separates a name from its mark
PATIENCE = 60  # seconds
MODES = ("100644", "100755")
MOST_FILES = 500
RUN = "[1-9][0-9]{0,18}"
MARKED = "<!-- rdc: run %s -->"  # the first line of an issue
PAGE, MOST_PAGES = 100, 5  # of issues
LONGEST_TITLE = 200
SHOWN_FILES = 50  # in the text of the pull request
HARMLESS = (
    (r"[^\S\n\t ]|[\0-\x08\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", " "),
    (r"&(?=#\w|\w+;)", f"&{GAP}"),  # entities that spell one of these
    (r"@(?=\w)", f"@{GAP}"),  # mentions
    (r"#(?=\d)", f"#{GAP}"),  # references to issues
    (r"(?i)(?<=/)(?=(?:issues|pulls?|discussions)[\\/]+[0-9%]|commits?[\\/]+[0-9a-f%]{7})", GAP),  # links
    (r"(?i)\b(gh-)(?=\d)", rf"\1{GAP}"),
    (r"!(?=\[)", f"!{GAP}"),  # images
    (r"<(?=[A-Za-z/!?])", f"<{GAP}"),  # HTML
    (r"(?m)^([ \t>*+-]*)/(?=\w)", rf"\1{GAP}/"),  # commands to bots
)


class UsageError(Exception):
    """The reason that nothing is published, for people."""


def harmless(text: str) -> str:
    """Return a text without working mentions, references, images, HTML or commands."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for pattern, instead in HARMLESS:
        text = re.sub(pattern, instead, text)
    return text


def shown(name: str, text: str) -> str:
    """Return an output as Markdown; other types go into a code block that they cannot end.

    rdc's own text comes first, since an unclosed block in the output would swallow what follows.
    """
    text = harmless(text)
    is_cut = len(text) > LONGEST
    text = text[:LONGEST].rstrip()
    if not name.endswith(".md"):
        text = fenced(text)
    return ("This text is cut. The artifacts of the run have all of it.\n\n" if is_cut else "") + text


def fenced(text: str) -> str:
    """Return a text as a code block that it can't end."""
    fence = "`" * max(3, *(len(found) + 1 for found in re.findall("`+", text) or [""]))
    return f"{fence}\n{text}\n{fence}"


def ask(method: str, path: str, body: "dict[str, Any] | None" = None, missing: bool = False) -> Any:
    """Call GitHub's API and return the JSON answer; with `missing`, return None for HTTP 404."""
    request = urllib.request.Request(  # the address is the runner's
        f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}{path}",
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {os.environ['TOKEN']}", "Accept": "application/vnd.github+json"},
        method=method,
    )
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if missing and error.code == 404:
            return None
        why = ": the job or the repository's Actions settings do not allow this" if error.code == 403 else ""
        raise UsageError(f"GitHub answered HTTP {error.code} to {method} {path}{why}") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"GitHub gave no answer to {method} {path}: {type(error).__name__}") from None


def signed() -> str:
    """Return a link to the run."""
    server, repository, number = (os.environ[f"GITHUB_{key}"] for key in ("SERVER_URL", "REPOSITORY", "RUN_ID"))
    return f"From [this run]({server}/{repository}/actions/runs/{number})."


def left_file(folder: Path) -> tuple[str, bytes]:
    """Return name and content of the run's output file, without trusting it."""
    files = [path for path in folder.iterdir() if path.is_file() and not path.is_symlink()]
    if len(files) != 1 or not re.fullmatch(r"[A-Za-z0-9_.-]{1,200}", files[0].name):
        raise UsageError("the run's artifact must be a single file")
    with files[0].open("rb") as file:
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise UsageError(f"the output has more than {LARGEST_FILE:,} bytes")
    return files[0].name, data


def propose(_name: str, data: bytes) -> str:
    """Commit the changes to a new branch and open a pull request."""
    if not os.environ["GITHUB_REF"].startswith("refs/heads/"):
        raise UsageError("the run is not on a branch, so there is no target for a pull request")
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
    wrong = UsageError("the run's artifact is not a list of changes")
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


def comment(name: str, data: bytes) -> str:
    """Comment on the issue or pull request of the event."""
    number = os.environ["NUMBER"]
    if not re.fullmatch("[1-9][0-9]{0,15}", number):
        raise UsageError("the event has no issue or pull request to comment on")
    body = f"{signed()}\n\n{shown(name, data.decode('utf-8', 'replace'))}"
    ask("POST", f"/issues/{number}/comments", {"body": body})
    return f"commented on {number}"


def pull_request(name: str, data: bytes) -> str:
    """Commit the output as a file to a new branch and open a pull request."""
    path = os.environ.get("FILE") or name
    base = ask("GET", "")["default_branch"]
    there = ask("GET", f"/contents/{quote(path)}?ref={quote(base, safe='')}", missing=True)
    if there and base64.b64decode(there.get("content", "")) == data:
        return f"{path} is already up to date"
    commit = ask("GET", f"/git/ref/heads/{quote(base)}")["object"]["sha"]
    branch = f"rdc/{name}-{os.environ['GITHUB_RUN_ID']}-{os.environ['GITHUB_RUN_ATTEMPT']}"
    ask("POST", "/git/refs", {"ref": f"refs/heads/{branch}", "sha": commit})
    content = {"message": f"Update {path}", "content": base64.b64encode(data).decode(), "branch": branch}
    ask("PUT", f"/contents/{quote(path)}", content | ({"sha": there["sha"]} if there else {}))
    pull = {"title": f"Update {path}", "head": branch, "base": base, "body": f"An agent wrote this. {signed()}"}
    number = ask("POST", "/pulls", pull)["number"]
    return f"opened the pull request {int(number)}"


def summary(name: str, data: bytes) -> str:
    """Append the output to the run summary."""
    with Path(os.environ["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as file:
        file.write(f"{shown(name, data.decode('utf-8', 'replace'))}\n")
    return "written"


def issue(_name: str, _data: bytes) -> str:
    """Close the issue of the run that this one continues, and open one if this run waits."""
    said, before = [], os.environ["RESUMED"]
    for number in asked_by(before) if re.fullmatch(RUN, before) else ():
        ask("PATCH", f"/issues/{number}", {"state": "closed"})
        said.append(f"closed {number}")
    if os.environ["ISSUE"]:
        title, text = waiting(os.environ["ISSUE"])
        # Nothing in a code block works, and a command must stay as it is.
        body = f"{MARKED % os.environ['GITHUB_RUN_ID']}\n{signed()}\n\n{fenced(re.sub(*HARMLESS[0], text))}"
        found = ask("POST", "/issues", {"title": harmless(" ".join(title.split()))[:LONGEST_TITLE], "body": body})
        said.append(f"opened {int(found['number'])}")
    return ", ".join(said) or "there is none to close"


def asked_by(run: str) -> list[int]:
    """Return the open issues of a run. Only those count that a workflow of the repository has opened."""
    numbers: list[int] = []
    for page in range(1, MOST_PAGES + 1):
        found = ask("GET", f"/issues?state=open&creator=github-actions%5Bbot%5D&per_page={PAGE}&page={page}")
        numbers += [int(one["number"]) for one in found if str(one.get("body")).startswith(f"{MARKED % run}\n")]
        if len(found) < PAGE:
            break
    return numbers


def waiting(word: str) -> "tuple[str, str]":
    """Return the title and the text of a question, without trusting them."""
    try:
        title, text = json.loads(base64.urlsafe_b64decode(word + "=" * (-len(word) % 4)))
    except (ValueError, TypeError, RecursionError):
        raise UsageError("the question of the run is damaged") from None
    return str(title), str(text)[:LONGEST]


KINDS = {
    "changes": ("pull-request", propose),
    "comment": ("comment", comment),
    "issue": ("issue", issue),
    "pull-request": ("pull-request", pull_request),
    "summary": ("summary", summary),
}


def published(kind: str) -> int:
    """Publish the run's one output file, and return an exit code."""
    label, do = KINDS[kind]
    try:
        name, data = ("", b"") if do is issue else left_file(Path(os.environ["RUNNER_TEMP"], "rdc-artifact"))
        print(f"{label}: {do(name, data)}", flush=True)
    except UsageError as error:
        print(f"::error title=Not published::{str(error).replace('%', '%25')}", flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(published(sys.argv[1]))
