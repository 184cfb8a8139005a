"""Publishing the last output of a run as a comment, in a summary, or as a pull request.

The output comes from an agent, and so from anyone who could influence it. It must be inert.
"""

from __future__ import annotations

import json
import os
import re
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Callable

LONGEST = 60_000  # characters; GitHub takes 65,536
LARGEST_FILE = 2 * 1024 * 1024  # bytes
GAP = "\u200b"  # invisible; separates a name from its mark
PATIENCE = 60  # seconds
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


class RefusedError(Exception):
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
        fence = "`" * max(3, *(len(found) + 1 for found in re.findall("`+", text) or [""]))
        text = f"{fence}\n{text}\n{fence}"
    return ("This text is cut. The artifacts of the run have all of it.\n\n" if is_cut else "") + text


def ask(method: str, path: str, body: dict[str, Any] | None = None, missing: bool = False) -> Any:
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
        raise RefusedError(f"GitHub answered HTTP {error.code} to {method} {path}{why}") from None
    except (OSError, ValueError) as error:
        raise RefusedError(f"GitHub gave no answer to {method} {path}: {type(error).__name__}") from None


def signed() -> str:
    """Return a link to the run."""
    server, repository, number = (os.environ[f"GITHUB_{key}"] for key in ("SERVER_URL", "REPOSITORY", "RUN_ID"))
    return f"From [this run]({server}/{repository}/actions/runs/{number})."


def publish(kind: str, do: Callable[[str, bytes], str]) -> int:
    """Publish the run's one output file."""
    try:
        name, data = left_file(Path(os.environ["RUNNER_TEMP"], "rdc-artifact"))
        print(f"{kind}: {do(name, data)}", flush=True)
    except RefusedError as error:
        print(f"::error title=Not published::{str(error).replace('%', '%25')}", flush=True)
        return 1
    return 0


def left_file(folder: Path) -> tuple[str, bytes]:
    """Return name and content of the run's output file, without trusting it."""
    files = [path for path in folder.iterdir() if path.is_file() and not path.is_symlink()]
    if len(files) != 1 or not re.fullmatch(r"[A-Za-z0-9_.-]{1,200}", files[0].name):
        raise RefusedError("the run's artifact must be a single file")
    with files[0].open("rb") as file:
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise RefusedError(f"the output has more than {LARGEST_FILE:,} bytes")
    return files[0].name, data
