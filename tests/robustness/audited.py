"""A starter for rdc that writes down what it opens, runs and connects to, as Python itself sees it.

    python audited.py RECORD SUBCOMMAND...

Each line of the record is a JSON list: the event, and for a file its path and whether it is opened for writing.
"""

import json
import os
import sys

OPENS = "open"
RUNS = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.fork", "os.forkpty", "pty.spawn")
CHANGES = ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.chmod")
CONNECTS = ("socket.__new__", "socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def absolute(path: str) -> str:
    """A path from the root of the file system, its links as they are."""
    return path if path[:1] == "/" else os.path.normpath(f"{os.getcwd()}/{path}")  # noqa: PTH109 (pathlib is not rdc's yet)


def watch(record: list[list[object]]) -> None:
    """Record from now on."""

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == OPENS and isinstance(arguments[0], str | bytes):
            flags = arguments[2]
            record.append([event, absolute(os.fsdecode(arguments[0])), bool(int(str(flags)) & WRITING)])
        elif event in RUNS or event in CONNECTS:
            record.append([event, [str(argument) for argument in arguments]])
        elif event in CHANGES:
            paths = [path for path in arguments if isinstance(path, str)]
            # The last argument is a folder that is open, if it is not -1; then that was seen when it was opened.
            record.extend([event, absolute(path), True] for path in paths if path[:1] == "/" or arguments[-1] == -1)

    sys.addaudithook(hook)


def main() -> None:
    """Run rdc in this process."""
    sys.dont_write_bytecode = True  # what rdc imports late is no output
    audit = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    del sys.argv[1]
    sys.argv[0] = "rdc"
    record: list[list[object]] = []
    watch(record)
    try:
        from rdc.__main__ import start  # noqa: PLC0415 (its imports are watched)

        start()
    finally:
        os.write(audit, "".join(json.dumps(line) + "\n" for line in list(record)).encode())


if __name__ == "__main__":
    del sys.path[0]  # this folder
    main()
