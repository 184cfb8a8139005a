"""The shells of native steps: without `-e` and `pipefail` (M2), and with a note where the page shows it."""

from __future__ import annotations

from msgspec import Struct

from backends.github.step import escaped, noting


class Shells(Struct, frozen=True):
    """Shell templates; `summary` says whether it is noted what has run."""

    summary: bool = False

    @property
    def says(self) -> str:
        """What the shell of a job does, in a comment; "" where it says that itself."""
        return "Runs a script without -e and pipefail, and notes how it went for the summary." if self.summary else ""

    def shell(self, interpreter: str, before: str = "") -> str:
        """The template for a script in the language of an interpreter; `before` are words that go before it."""
        if self.summary:
            return noting(escaped(before) + interpreter)
        return f'bash -c "{escaped(before)}{interpreter} \\"$0\\"" {{0}}' if before else f"{interpreter} {{0}}"
