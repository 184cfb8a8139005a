"""How people read the name of a step: generated files and the run summary show the same."""

import re

PART_OF_STEP = r"(?s)(.+)/(if|else|elif(\d+)|prompt|elicit)(~\d+)?"
# The last part of an id that is a number, one with a letter, or a placeholder; all others are names.
NUMBERED = r"(.*[./])?(\d+|\{[Nn]\}|\d+[a-z]+)(~\d+)?"


def split_name(name: str, title: str) -> tuple[str, str]:
    """Return what people call a step, and its title: of `2/else Work on it` it is `2`, and `Work on it, else`.

    So is it for the branches of a step that have no name of their own, and for what belongs to a call of the step.
    """
    found = re.fullmatch(PART_OF_STEP, name) if title else None
    if found is None:
        return name, title
    step, word, number, again = found.groups()
    part = "elif" if number == "1" else f"elif {number}" if number else {"elicit": "question"}.get(word, word)
    return step, f"{title}, {part}{again or ''}"


def name_in_words(name: str, title: str) -> str:
    """Return a step or a group as its author reads it: `1. Build`, `Drain the node`, `2. Work on it, else`."""
    if not title.strip():
        return name
    name, title = split_name(name, title)
    return f"{name}. {title}" if re.fullmatch(NUMBERED, name) else f"{name} {title}"
