"""Find newer releases of the pinned actions: `python -m tests.backends.github.pins`; `--write` updates the file."""

import re
import subprocess
import sys

from backends.github.yaml.pins import FILE, Pin, pins


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
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    _refresh(write="--write" in sys.argv[1:])
