"""What of the values of secrets is hidden wherever it stands (I26)."""

import json
import os
import re
from collections.abc import Iterable
from typing import Optional

AROUND_SECRETS = " \t\n\v\f\r"
SHORTEST = 4  # characters; what is shorter stands in too many words
CODES = re.compile(r"\\u[0-9a-f]{4}")
HTML = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}  # as writers of JSON for pages escape them


def secret_value(name: str) -> str:
    """Return the value of a secret without what stands around it: commands print it without that too."""
    return os.environ.get(name, "").strip(AROUND_SECRETS)


def unhidden(names: Iterable[str]) -> list[str]:
    """Return which secrets have values that cannot be hidden."""
    return [name for name in names if 0 < len(secret_value(name)) < SHORTEST]


def hidden_parts(names: Iterable[str]) -> Optional[re.Pattern[str]]:
    """Return the pattern of values, of their lines, and of both as they stand in JSON, the longest first."""
    found: set[str] = set()
    for value in map(secret_value, names):
        for part in {value, *(line.strip(AROUND_SECRETS) for line in value.split("\n"))}:
            found.update(_written(part) if len(part) >= SHORTEST else ())
    parts = map(re.escape, sorted(found, key=len, reverse=True))
    return re.compile("|".join(parts)) if found else None


def _written(part: str) -> set[str]:
    """Return a text as it is, and in the ways in which it is written in JSON, also within a string of JSON."""
    once = {part, *_escaped(part)}
    once |= {each.replace("/", "\\/") for each in once}
    once |= {each.translate(HTML) for each in once}
    once |= {CODES.sub(lambda found: "\\u" + found[0][2:].upper(), each) for each in once}
    return once.union(*map(_escaped, once))


def _escaped(part: str) -> set[str]:
    return {json.dumps(part, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False)}
