"""Names of steps for people, the same in generated files and the run summary."""

import re

PART_OF_STEP = r"(?s)(.+)/(if|else|elif(\d+)|prompt|elicit)(~\d+)?"
# The last part of an id is a number, a number with a letter, or a placeholder; otherwise it is a name.
NUMBERED = r"(.*[./])?(\d+|\{[Nn]\}|\d+[a-z]+)(~\d+)?"


def split_name(name: str, title: str) -> tuple[str, str]:
    """Return the name and title of a step for people: `2` and `Work on it, else` for `2/else Work on it`.

    This applies to branches of a step without a name, and to the parts of a step that calls an agent.
    """
    found = re.fullmatch(PART_OF_STEP, name) if title else None
    if found is None:
        return name, title
    step, word, number, again = found.groups()
    part = "elif" if number == "1" else f"elif {number}" if number else {"elicit": "question"}.get(word, word)
    return step, f"{title}, {part}{again or ''}"


def name_in_words(name: str, title: str) -> str:
    """Return a step or a group as people read it: `1. Build`, `Drain the node`, `2. Work on it, else`."""
    if not title.strip():
        return name
    name, title = split_name(name, title)
    return f"{name}. {title}" if re.fullmatch(NUMBERED, name) else f"{name} {title}"
