"""Import a justfile with the program `just`, which writes the parts of the file and runs nothing of it."""

import os
import shutil
import subprocess
from pathlib import Path

from msgspec.structs import replace

from compiler.importers.draft import print_draft
from compiler.importers.just import import_recipe, recipe_names
from compiler.importers.just_dump import RefusedError
from compiler.importers.page import Imported
from compiler.importers.report import Refusal, report_of
from compiler.text.source import Source

SECONDS = 20  # the time limit for the dump


def is_justfile(path: str) -> bool:
    """Return whether `just` reads a file of this name."""
    name = os.path.basename(path).lower()
    return name in {"justfile", ".justfile"} or name.endswith(".just")


def import_justfile(source: Source, origin: str, recipe: str) -> Imported | Refusal:
    """Return the draft of a recipe, or the reason why it has none; "" is the only recipe of a justfile."""
    try:
        dump = _dump(source.path)
        name = recipe or _only(recipe_names(dump))
        draft = replace(import_recipe(dump, source.text, name), origin=origin, sha256=source.sha256)
    except RefusedError as refused:
        return Refusal(source.path, "just", refused.words, refused.line)
    printed = print_draft(draft)
    return Imported(printed.text, report_of(source.path, draft, printed, ()), draft.recipe)


def _only(names: list[str]) -> str:
    if len(names) != 1:
        raise RefusedError(f"name the recipe with --recipe: {', '.join(names) or 'the justfile has none'}")
    return names[0]


def _dump(path: str) -> bytes:
    """Return the parts of a justfile as JSON. With `--dump`, just runs no recipe and no command in backticks."""
    program = shutil.which("just")
    if program is None:
        raise RefusedError("rdc needs the program just to read it; install it, such as with 'pip install rust-just'")
    words = [program, "--justfile", str(Path(path).absolute()), "--dump", "--dump-format", "json", "--color", "never"]
    try:
        done = subprocess.run(  # noqa: S603 (a program that was looked up, and words of ours)
            words, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RefusedError(f"just doesn't read it: {error}") from error
    if done.returncode:
        message = done.stderr.decode(errors="replace").strip()
        raise RefusedError(f"just doesn't read it: {message.splitlines()[0] if message else 'no message'}")
    return done.stdout
