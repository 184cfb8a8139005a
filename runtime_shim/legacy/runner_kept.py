"""What agents and tools were given and said in a run on GitHub: kept whole in files, without secrets, and counted."""

from pathlib import Path
from urllib.parse import quote

from runtime_shim.legacy.runner_calls import masked
from runtime_shim.legacy.runner_says import one_line

LEDGER, PROMPTS, ANSWERS = "calls", "prompts", "answers"
LONGEST_FILE_NAME = 200  # characters
LARGEST_LEDGER = 16 * 1024 * 1024  # bytes
OF_AGENTS = "agent "


def note_call(folder: Path, key: str) -> None:
    """Note a call before it is made."""
    with Path(folder, LEDGER).open("a", encoding="utf-8", errors="replace") as file:
        file.write(f"{one_line(key)}\n")


def noted_calls(folder: Path, beginning: str) -> int:
    """Return how many calls were made by keys that begin so; a whole key ends in a line end."""
    path = Path(folder, LEDGER)
    if not path.exists():
        return 0
    with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
        return sum(line.startswith(beginning) for line in file.read(LARGEST_LEDGER).splitlines(keepends=True))


def stem_of(name: str) -> str:
    """Return what the names of the files of a step begin with; none of them leaves its folder."""
    return quote(name, safe="{} ")[:LONGEST_FILE_NAME]


def keep_text(folder: Path, kind: str, name: str, text: str, number: int = 0) -> int:
    """Keep a text, whole or not at all, as STEP.K for the K-th call, and return K."""
    directory, stem = Path(folder, kind), stem_of(name)
    directory.mkdir(exist_ok=True)
    while not number or (kind == PROMPTS and (directory / f"{stem}.{number}").exists()):
        number += 1
    draft = directory / f".{stem}.new"
    draft.write_bytes(masked(text).encode("utf-8", "replace"))
    draft.replace(directory / f"{stem}.{number}")
    return number


def kept_texts(folder: Path, kind: str, name: str) -> list[Path]:
    """Return the files of a step in the order of its calls."""
    stem = stem_of(name)
    found = {path.suffix[1:]: path for path in Path(folder, kind).glob("*") if path.name.rpartition(".")[0] == stem}
    return [found[number] for number in sorted(filter(str.isdecimal, found), key=int)]
