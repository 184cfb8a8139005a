"""What every command, agent and tool of a case runs: it logs what it is given, and does what the script says.

`stub.py shell STEP ARGUMENT…`, `visit STEP FILE ARGUMENT…`, `agent TYPE` or `tool CONNECTION`, in a folder that
YARDSTICK names: `script.json` has the replies for each step and the names of all variables, `log` gets a line of JSON
for each call, and `calls/` has for each step and entry a file with a byte for every call that came to its end.
Nothing of the project is imported: this also runs where only Python is.
"""

import hashlib
import json
import os
import sys
import time
from pathlib import Path

FOLDER = Path(os.environ.get("YARDSTICK", "."))


def main() -> int:
    """One call; gives the exit code."""
    kind, name, *arguments = sys.argv[1:]
    if kind == "visit":
        kind, name = "shell", f"{name} {arguments.pop(0)}"
    given = "" if kind == "shell" else sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    entry = os.environ.get("RDC_ENTRY") or None
    named = os.environ.get("RDC_STEP", "?").removesuffix(f"_{entry}")  # entry 1 of `review` is `review_1`
    step = name if kind == "shell" else named
    script = json.loads((FOLDER / "script.json").read_text(encoding="ascii"))
    counted = FOLDER / "calls" / key(step, entry)
    number = counted.stat().st_size if counted.exists() else 0
    log(
        {
            "kind": kind,
            "name": name,
            "step": step,
            "named": os.environ.get("RDC_STEP"),
            "entry": entry,
            "number": number,
            "attempt": os.environ.get("RDC_ATTEMPT"),
            "agent": os.environ.get("RDC_AGENT_TYPE"),
            "given": given,
            "arguments": arguments,
            "variables": {each: os.environ[each] for each in script["variables"] if each in os.environ},
            "keeps": "RDC_OUTPUT" in os.environ,
            "run": os.environ.get("RDC_RUN_ID"),
            "leak": os.environ.get("LEAK"),
            "trail": trail(),
            "time": time.time(),
        }
    )
    replies = script["replies"].get(step) or [{}]
    reply = replies[min(number, len(replies) - 1)]
    reply = reply["entries"][int(entry or 0)] if "entries" in reply else reply
    if reply.get("hangs"):
        count(counted)  # the time limit is its end
    code = carry_out(reply, script["slow"])
    if not reply.get("hangs"):
        count(counted)
    return code


def trail() -> int:
    """How many calls there were in this folder."""
    with Path("trail").open("ab") as file:
        file.write(b".")
        return file.tell()


def count(counted: Path) -> None:
    """A call has come to its end."""
    with counted.open("ab") as file:
        file.write(b".")


def carry_out(reply: dict, slow: float) -> int:  # type: ignore[type-arg] # older Pythons run this too
    """Print and write what the reply says, and give its exit code."""
    time.sleep(60 if reply.get("hangs") else slow)
    if reply.get("output") is not None:
        with Path(os.environ["RDC_OUTPUT"]).open("ab") as file:
            file.write(reply["output"].encode("utf-8", "surrogateescape"))
    printed = reply.get("says", reply.get("answer", ""))
    sys.stdout.buffer.write(printed.encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()
    return int(reply.get("exit", 99))


def key(step: str, entry: "str | None") -> str:
    """The name of the file that counts calls."""
    return hashlib.sha256(f"{step}\0{entry}".encode("utf-8", "surrogateescape")).hexdigest()[:16]


def log(line: dict) -> None:  # type: ignore[type-arg] # older Pythons run this too
    """Append a line at once, since parallel agents share the file."""
    descriptor = os.open(FOLDER / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(descriptor, (json.dumps(line) + "\n").encode("ascii"))
    os.close(descriptor)


if __name__ == "__main__":
    sys.exit(main())
