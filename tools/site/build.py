"""Builds the site into a folder."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tools.site.navigation import navigation
from tools.site.pages import made

HERE = Path(__file__).parent
ASSETS = ("site.css", "iframe-worker.js")

CODES_OF_COLORS = re.compile(r"\x1b\[[0-9;]*m")
PROBLEM = re.compile(r"^Warning: (.*)\n.*\[ (\S+) \]$", re.MULTILINE)


class BrokenSiteError(Exception):
    """The generator found a broken link, or failed; its output is the text."""


def build(folder: Path) -> Path:
    """Build the site in a folder, which is emptied before; return the folder with the HTML.

    Raises:
        BrokenSiteError: A link or an anchor leads nowhere.
    """
    shutil.rmtree(folder, ignore_errors=True)
    files = {**dict(made()), **{f"assets/{name}": (HERE / name).read_bytes() for name in ASSETS}}
    for place, content in files.items():
        path = folder / "pages" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    settings = (HERE / "zensical.toml").read_text(encoding="utf-8")
    pages = [place for place in files if place.endswith(".md")]
    listed = json.dumps(navigation(pages)).replace('": ', '" = ')  # TOML writes a mapping with `=`
    text = settings.replace("[project]\n", f"[project]\nnav = {listed}\n", 1)
    (folder / "zensical.toml").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", "zensical.toml"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BrokenSiteError(_problems(done.stdout + done.stderr))
    return folder / "html"


def _problems(output: str) -> str:
    """Return a line for each problem that the generator found, or all that it printed if it failed otherwise."""
    plain = CODES_OF_COLORS.sub("", output)
    found = [f"{place}: {problem}" for problem, place in PROBLEM.findall(plain)]
    return "\n".join(found) or plain
