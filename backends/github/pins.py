"""The actions that generated workflows use, pinned by commit in `pins.toml`.

`python -m backends.github.pins` compares them with the newest releases. With `--write`, it updates the file.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from backends.github.step import Job, Step
from compiler.toml_text import load_toml

FILE = Path(__file__).with_name("pins.toml")


class Pin(Struct, frozen=True):
    """An action at a commit, with its version."""

    uses: str
    version: str
    commit: str

    @property
    def reference(self) -> str:
        """The value of a step's `uses`."""
        return f"{self.uses}@{self.commit}"


def chosen_pin(uses: str, value: str) -> Pin:
    """Return the pin of an action for a value such as `1234… # v1.2.3`: a commit and its version."""
    commit, _, version = value.partition("#")
    return Pin(uses, version.strip(), commit.strip())


def checked_pins(given: dict[str, str]) -> dict[str, str]:
    """Return the pins of the option `actions`; raises `ValueError` if one is invalid."""
    known = [pin.uses for pin in pins().values()]
    for uses, value in given.items():
        if uses not in known:
            raise ValueError(f"rdc doesn't use the action {uses}; it uses {', '.join(known)}")
        if not re.fullmatch(r"[0-9a-f]{40}( # v[0-9A-Za-z.+-]{1,40})?", value):
            raise ValueError(f"pin {uses} by a commit and its version, such as `{'0123' * 10} # v1.2.3`")
    return given


def pinned(jobs: Sequence[Job], chosen: Mapping[str, str]) -> Sequence[Job]:
    """Return the jobs with these pins instead of the built-in ones."""
    if not chosen:
        return jobs
    own = {pin.reference: chosen_pin(pin.uses, chosen[pin.uses]) for pin in pins().values() if pin.uses in chosen}

    def repinned(step: Step) -> Step:
        pin = own.get(step.uses)
        return replace(step, uses=pin.reference, version=pin.version) if pin else step

    return [replace(job, steps=tuple(map(repinned, job.steps))) for job in jobs]


@cache
def pins() -> dict[str, Pin]:
    """Return the pinned actions by their short names."""
    return {name: Pin(**entry) for name, entry in load_toml(FILE.read_text(encoding="utf-8")).items()}


def newest(uses: str, listing: str) -> Pin | None:
    """Return the newest release in the output of `git ls-remote --tags`. A peeled tag is the commit itself."""
    commits: dict[tuple[int, ...], str] = {}
    for line in listing.splitlines():
        found = re.fullmatch(r"([0-9a-f]{40})\trefs/tags/v(\d+)\.(\d+)\.(\d+)(\^\{\})?", line)
        if found:
            commit, *numbers, peeled = found.groups()
            version = tuple(int(number) for number in numbers)
            if peeled or version not in commits:
                commits[version] = commit
    if not commits:
        return None
    version = max(commits)
    return Pin(uses, "v" + ".".join(map(str, version)), commits[version])


def _refresh(*, write: bool) -> None:
    text = FILE.read_text(encoding="utf-8")
    for pin in pins().values():
        found = newest(pin.uses, _tags(pin.uses)) or pin
        sys.stdout.write(f"{pin.uses} {pin.version} {'is the newest' if found == pin else f'-> {found.version}'}\n")
        old, new = (f'version = "{item.version}"\ncommit = "{item.commit}"' for item in (pin, found))
        text = text.replace(old, new)
    if write:
        FILE.write_text(text, encoding="utf-8")


def _tags(uses: str) -> str:
    command = ["git", "ls-remote", "--tags", f"https://github.com/{uses}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603 (a name from the file)


if __name__ == "__main__":
    _refresh(write="--write" in sys.argv[1:])
