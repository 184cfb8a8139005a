"""The shells of native steps: without `-e` and `pipefail` (M2), and with a journal for the summary."""

from __future__ import annotations

from msgspec import Struct

from backends.github.step import escaped, noting


class Shells(Struct, frozen=True):
    """Shell templates. `summary` says whether they record which steps ran."""

    summary: bool = False

    @property
    def says(self) -> str:
        """The comment on a job's shell; "" if the shell needs none."""
        return (
            "Runs a script without -e and pipefail, and records its exit code for the summary." if self.summary else ""
        )

    def shell(self, interpreter: str, before: str = "") -> str:
        """Return the template for a script in an interpreter's language, with the words `before` in front of it."""
        if self.summary:
            return noting(escaped(before) + interpreter)
        return f'bash -c "{escaped(before)}{interpreter} \\"$0\\"" {{0}}' if before else f"{interpreter} {{0}}"
