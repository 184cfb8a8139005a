"""How often agents and tools are called in a run of a Makefile, and what they were given and said, as files."""

import collections
import json
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from runtime_shim.legacy.helper import keep
from runtime_shim.legacy.hidden import hidden_parts
from runtime_shim.legacy.ordered import given

PROMPTS, ANSWERS = "prompts", "answers"
LONGEST_NAME = 200  # characters of a file's name
FIRST_PAUSE = 2  # seconds until an agent is called again; each further pause is twice as long
AT_REST = "rest"  # as the last line, that nothing is called at present
AGENT, TOOL = "agent ", "tool "  # begin what is counted


class Account:
    """The calls of a run, in `calls/tally` of its state directory: a line for each, before it is made."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def made(self) -> "collections.Counter[str]":
        """Return the calls so far; a line that was not written to its end is of a call that was not made."""
        found: collections.Counter[str] = collections.Counter()
        with suppress(OSError):
            for line in (self._folder / "calls" / "tally").read_text(encoding="utf-8").splitlines():
                with suppress(ValueError):
                    found[json.loads(line)] += 1
        return found

    def note(self, keys: Iterable[str]) -> None:
        """Note calls that are made now."""
        self._write([json.dumps(key) for key in keys])

    def rest(self) -> None:
        """Note that nothing is called: a run that goes on need not ask what became of it."""
        self._write([AT_REST])

    def _write(self, lines: list[str]) -> None:
        with (self._folder / "calls" / "tally").open("a", encoding="utf-8") as file:
            file.write("".join(f"\n{line}" for line in lines) + "\n")

    def again(self, node: str, tries: int, seconds: int) -> None:
        """Note when the calls of a step, which have failed so many times, are made again."""
        note = {"node": node, "calls": sum(self.made().values()), "tries": tries, "until": time.time() + seconds}
        keep(str(self._folder / "calls" / "again"), json.dumps(note) + "\n")

    def tried(self, node: str) -> "tuple[int, float]":
        """Return how many times the calls of a step have failed, and how many seconds are left until the next ones.

        If anything was called since that was noted, the step is another one, or done anew.
        """
        with suppress(OSError, ValueError, TypeError, KeyError):
            note = json.loads((self._folder / "calls" / "again").read_bytes())
            if (note["node"], note["calls"]) == (node, sum(self.made().values())):
                left = max(float(note["until"]) - time.time(), 0.0)
                return int(note["tries"]), min(left, FIRST_PAUSE * 2.0 ** (int(note["tries"]) - 1))
        return 0, 0.0

    def may_call(self, number: int) -> bool:
        """Tell whether so many agents may be called within the budget of the run."""
        path = self._folder / "calls" / "budget"
        made = sum(count for key, count in self.made().items() if key.startswith(AGENT))
        return not path.exists() or made + number <= int(path.read_text())

    def keep(self, folder: str, name: str, text: str, number: int = 0) -> int:
        """Keep a text, as STEP.K for the K-th call, and return K."""
        stem = self._folder / folder / quote(name, safe="{} ")[:LONGEST_NAME]
        while not number or (folder == PROMPTS and Path(f"{stem}.{number}").exists()):
            number += 1
        keep(f"{stem}.{number}", masked(text))
        return number


def masked(text: str) -> str:
    """Return a text without what of secrets is hidden."""
    pattern = hidden_parts(given("SECRETS").split())
    return pattern.sub("***", text) if pattern else text
