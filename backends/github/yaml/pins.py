"""The actions that generated workflows use, pinned by commit in `pins.toml`."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from backends.github.yaml.model import Job, Step
from compiler.reading.toml import load_toml

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
    ours = {pin.reference: pin.uses for pin in pins().values() if pin.uses in chosen}

    def repinned(step: Step) -> Step:
        if step.uses not in ours:
            return step
        uses = ours[step.uses]
        commit, _, version = chosen[uses].partition(" # ")
        return replace(step, uses=f"{uses}@{commit}", version=version)

    return [replace(job, steps=tuple(map(repinned, job.steps))) for job in jobs]


@cache
def pins() -> dict[str, Pin]:
    """Return the pinned actions by their short names."""
    return {name: Pin(**entry) for name, entry in load_toml(FILE.read_text(encoding="utf-8")).items()}
