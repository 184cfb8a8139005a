"""What a workflow publishes of a run: its last output, as a comment, in a summary, or as a pull request.

The output is of an agent, and so of whoever has told the agent something. Nothing in it does more than to be read.
"""

import json
import os
import re
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Callable, Optional

LONGEST = 60_000  # characters; GitHub takes 65,536
LARGEST_FILE = 2 * 1024 * 1024  # bytes
GAP = "\u200b"  # is not seen, and parts a name from its mark
PATIENCE = 60  # seconds until GitHub has answered
HARMLESS = (
    (r"[^\S\n\t ]|[\0-\x08\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", " "),
    (r"&(?=#\w|\w+;)", f"&{GAP}"),  # spells no character that would be one of these
    (r"@(?=\w)", f"@{GAP}"),  # notifies nobody
    (r"#(?=\d)", f"#{GAP}"),  # refers to no issue
    (r"(?i)(?<=/)(?=(?:issues|pulls?|discussions)[\\/]+[0-9%]|commits?[\\/]+[0-9a-f%]{7})", GAP),  # a link
    (r"(?i)\b(gh-)(?=\d)", rf"\1{GAP}"),
    (r"!(?=\[)", f"!{GAP}"),  # loads no image
    (r"<(?=[A-Za-z/!?])", f"<{GAP}"),  # is no HTML
    (r"(?m)^([ \t>*+-]*)/(?=\w)", rf"\1{GAP}/"),  # is no command to a bot
)


class RefusedError(Exception):
    """Why nothing is published; for people."""


def harmless(text: str) -> str:
    """Return a text in which nothing notifies, refers, loads or commands."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for pattern, instead in HARMLESS:
        text = re.sub(pattern, instead, text)
    return text


def shown(name: str, text: str) -> str:
    """Return an output as Markdown: that of a type which is none as a block, which nothing in it can end.

    What rdc itself says stands before it: a block that the text leaves open would swallow what comes behind.
    """
    text = harmless(text)
    is_cut = len(text) > LONGEST
    text = text[:LONGEST].rstrip()
    if not name.endswith(".md"):
        fence = "`" * max(3, *(len(found) + 1 for found in re.findall("`+", text) or [""]))
        text = f"{fence}\n{text}\n{fence}"
    return ("The text is longer: all of it is among the artifacts of the run.\n\n" if is_cut else "") + text


def ask(method: str, path: str, body: Optional[dict[str, Any]] = None, missing: bool = False) -> Any:  # noqa: ANN401
    """Ask GitHub's API; `missing` says whether nothing may be there, which is None."""
    request = urllib.request.Request(  # noqa: S310 (the address is the runner's)
        f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}{path}",
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {os.environ['TOKEN']}", "Accept": "application/vnd.github+json"},
        method=method,
    )
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if missing and error.code == 404:
            return None
        why = ": the job, or Actions in the settings of the repository, may not do this" if error.code == 403 else ""
        raise RefusedError(f"GitHub answered HTTP {error.code} to {method} {path}{why}") from None
    except (OSError, ValueError) as error:
        raise RefusedError(f"GitHub gave no answer to {method} {path}: {type(error).__name__}") from None


def signed() -> str:
    """Say which run has written something."""
    server, repository, number = (os.environ[f"GITHUB_{key}"] for key in ("SERVER_URL", "REPOSITORY", "RUN_ID"))
    return f"From [this run]({server}/{repository}/actions/runs/{number})."


def publish(kind: str, do: Callable[[str, bytes], str]) -> int:
    """Publish the one file that the run has left."""
    try:
        name, data = left_file(Path(os.environ["RUNNER_TEMP"], "rdc-artifact"))
        print(f"{kind}: {do(name, data)}", flush=True)
    except RefusedError as error:
        print(f"::error title=Not published::{str(error).replace('%', '%25')}", flush=True)
        return 1
    return 0


def left_file(folder: Path) -> tuple[str, bytes]:
    """Return name and content of the file that the run has left; nothing of it is trusted."""
    files = [path for path in folder.iterdir() if path.is_file() and not path.is_symlink()]
    if len(files) != 1 or not re.fullmatch(r"[A-Za-z0-9_.-]{1,200}", files[0].name):
        raise RefusedError("the artifact of the run is not the one file that it should be")
    with files[0].open("rb") as file:
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise RefusedError(f"the output has more than {LARGEST_FILE:,} bytes")
    return files[0].name, data
