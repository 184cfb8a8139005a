"""A project that wants to be run: commands wherever text can stand, and a repository whose settings name programs."""

import os
import subprocess
from pathlib import Path

from tests.support.cli import document

MAIN = "main.runbook.md"
TOUCH = "touch PWNED"
TEXT = (
    "$(touch PWNED-1) `touch PWNED-2` {{ ''.__class__.__mro__[1].__subclasses__() }} {% include '/etc/passwd' %} "
    "${{ github.token }} $(shell touch PWNED-3) <img src=x onerror=alert(1)> ; touch PWNED-4 # %s {0} \\\\"
)
DOCUMENT = f"""\
---
name: "n$(touch PWNED-5)"
description: {TEXT!r}
version: "`touch PWNED-6`"
tags: ["$(touch PWNED-7)"]
scenarios:
  all:
    description: {TEXT!r}
    commands: ["rd run {MAIN}", "rd pass", "rd pass", "rd pass", "rd pass", "rd pass", "rd pass"]
    result: COMPLETE
  prompted:
    commands: ["rd run --prompted {MAIN}", "rd pass", "rd pass", "rd pass", "rd pass", "rd pass", "rd pass"]
    result: COMPLETE
---

# {TEXT}
{TEXT}
## 1. {TEXT}
{TEXT}
```bash
touch PWNED-8
```
## 2. {TEXT}
{TEXT}
```jinja
{TEXT}
```
- YES: CONTINUE
- NO: STOP "$(touch PWNED-9)"
## 3. Include
- $(touch PWNED-10).runbook.md
- below/other.runbook.md
## 4. {TEXT}
```sh prompt
touch PWNED-11
```
## 5. End
```sh
touch PWNED-12; exit 1
```
- PASS: COMPLETE "`touch PWNED-13`"
- FAIL: RETRY 2 STOP "{{{{ 7 * 7 }}}} ${{{{ secrets.X }}}}"
"""
STEP = "## 1. In\n\n```bash\ntouch PWNED-14\n```\n"
OTHERS = {"$(touch PWNED-10).runbook.md": STEP, "below/other.runbook.md": STEP}

GIT_CONFIGURATION = f"""\
[core]
    repositoryformatversion = 0
    fsmonitor = {TOUCH}-fsmonitor
    sshCommand = {TOUCH}-ssh
    pager = {TOUCH}-pager
    editor = {TOUCH}-editor
    askPass = {TOUCH}-askpass
    gitProxy = {TOUCH}-proxy
    alternateRefsCommand = {TOUCH}-refs
    hooksPath = hooks
    attributesFile = attributes
[pager]
    ls-tree = {TOUCH}-pager
    cat-file = {TOUCH}-pager
    rev-parse = {TOUCH}-pager
[alias]
    ls-tree = !{TOUCH}-alias
    cat-file = !{TOUCH}-alias
    rev-parse = !{TOUCH}-alias
[diff]
    external = {TOUCH}-diff
[diff "x"]
    textconv = {TOUCH}-textconv
    command = {TOUCH}-diff
[filter "x"]
    smudge = {TOUCH}-smudge
    clean = {TOUCH}-clean
    process = {TOUCH}-process
    required = true
[credential]
    helper = !{TOUCH}-credential
[gpg]
    program = {TOUCH}-gpg
[uploadpack]
    packObjectsHook = {TOUCH}-pack
[remote "origin"]
    url = ext::{TOUCH}-remote
    promisor = true
    partialclonefilter = blob:none
    uploadpack = {TOUCH}-uploadpack
[include]
    path = ../included.config
"""
HOOKS = ("post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman", "pre-auto-gc")


def write_project(root: Path) -> None:
    """The documents, as they were in a commit and as they are, and the settings beside them."""
    for name, text in {MAIN: DOCUMENT, **OTHERS}.items():
        document(root, name, text)
    (root / "old.runbook.md").write_text(DOCUMENT.replace("## 5. End", "## 5. Ends"), encoding="utf-8")
    (root / "rdc.toml").write_text("[github.env]\nSHOP = '$(touch PWNED-15) {{ x }}'\n", encoding="utf-8")
    (root / ".gitattributes").write_text("* diff=x filter=x text eol=crlf working-tree-encoding=UTF-16\n")
    commit(root)
    (root / MAIN).write_text(DOCUMENT.replace("## 5. End", "## 5. The end"), encoding="utf-8")
    git_folder = root / ".git"
    (git_folder / "config").write_text(GIT_CONFIGURATION)
    (root / "included.config").write_text(f"[core]\n    fsmonitor = {TOUCH}-included\n")
    for folder in (root / "hooks", git_folder / "hooks"):
        for name in HOOKS:
            document(folder, name, f"#!/bin/sh\n{TOUCH}-hook\n").chmod(0o755)
    (git_folder / "info" / "attributes").write_text("* diff=x filter=x\n")


def commit(root: Path) -> None:
    """All of the folder as a commit, with git as it is."""
    (root / ".gitattributes").rename(root / "attributes")
    identity = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "all"]):
        environment = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull}
        subprocess.run(["git", *words], cwd=root, env=environment, check=True, timeout=20)
    (root / "attributes").rename(root / ".gitattributes")


MODULES = (
    "attr", "backends", "click", "compiler", "encodings_", "grammars", "json", "lark", "msgspec", "pyromark",
    "networkx", "pydantic", "pydantic_core", "pygraphviz", "runtime_shim", "shlex", "sitecustomize",
    "subprocess", "tempfile", "tomllib", "typing_extensions", "usercustomize", "yaml",
)  # fmt: skip
"""What rdc imports, or Python where it finds it, and what must not be taken from the current folder."""


def write_modules(folder: Path) -> None:
    """Modules beside the documents, half of them packages, each of which leaves a mark when it is imported."""
    for number, name in enumerate(MODULES):
        file = f"{name}.py" if number % 2 else f"{name}/__init__.py"
        document(folder, file, f"open('PWNED-module-{name}', 'w').close()\nraise SystemExit(99)\n")
    document(folder, "evil-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    document(folder, "evil-1.0.dist-info/entry_points.txt", "[rdc.backends]\nevil = sitecustomize:Evil\n")
