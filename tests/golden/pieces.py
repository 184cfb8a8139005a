"""What golden files leave out: texts that many files share are once in `golden/shared`, and a runtime is its hash.

A golden file has one line instead of each. Shared texts are the loop of Makefiles, and the scripts of those steps of
workflows that say nothing of a document.
"""

import hashlib
import re
from collections.abc import Mapping
from itertools import count

SHARED = "shared"
"""The folder in `golden` with texts that several files have."""

STEPS = ("Check the secrets", "Prepare the time limits", "Prepare the outputs", "Prepare the loops")
"""The steps of workflows whose scripts say nothing of a document."""

FORMS: Mapping[str, re.Pattern[str]] = {
    "py": re.compile(r"(?m)^# The (?P<title>runtime) of rdc .*\n(?:#.*\n)*(?P<text>(?s:.+))"),
    "mk": re.compile(r"(?m)^RDC_COUNTERS :=.*\n(?P<text>(?s:.+)define RDC_(?P<title>LOOP)\n(?s:.+))"),
    "yml": re.compile(
        rf"(?m)^ {{6}}- name: (?P<title>{'|'.join(STEPS)})\n(?: {{8}}(?!run: ).*\n| {{10}}.*\n)*? {{8}}run: \|\n"
        r"(?P<text>(?: {10}.*\n|\n)+)"
    ),
}
"""The texts that files leave out, by the extensions of their names."""


class Shared:
    """The texts of many files. Numbers distinguish texts with the same title."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}

    def own(self, suffix: str, text: str) -> str:
        """Return a file with a line instead of each shared text, which is kept."""
        if suffix not in FORMS:
            return text
        return FORMS[suffix].sub(lambda match: self._shown(suffix, match), text)

    def _shown(self, suffix: str, match: re.Match[str]) -> str:
        title, text = match["title"], match["text"]
        stored = hashed(text).strip() if title == "runtime" else f"golden/{self._kept(suffix, title, text)}"
        indent = " " * (len(text) - len(text.lstrip(" ")))
        return f"{match.string[match.start() : match.start('text')]}{indent}# --- {stored}\n"

    def _kept(self, suffix: str, title: str, text: str) -> str:
        stem = f"{SHARED}/{suffix}/{title.lower().replace(' ', '-')}"
        names = (f"{stem}.{number}.{suffix}" if number > 1 else f"{stem}.{suffix}" for number in count(1))
        return next(name for name in names if self.files.setdefault(name, text) == text)


def hashed(text: str) -> str:
    return f"{len(text.splitlines()):5} lines, sha256 {hashlib.sha256(text.encode()).hexdigest()}"


def taken_apart(outputs: Mapping[str, str]) -> dict[str, str]:
    """Return golden files from generated files, by path: each without what it shares, and the shared texts."""
    shared = Shared()
    own = {path: shared.own(path.rpartition(".")[2], text) for path, text in outputs.items()}
    whole = [path for path, text in own.items() if path.endswith(".py") and "# The runtime of rdc " not in text]
    assert not whole, f"no runtime found in {whole}"
    return own | shared.files
