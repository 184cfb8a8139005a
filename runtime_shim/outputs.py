"""Values that commands give by the file that RDC_OUTPUT names (I9)."""

import argparse
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from runtime_shim.program import RefusedError, Table
from runtime_shim.session import OPTIONS, PERFORMERS, Done
from runtime_shim.shell import Commands
from runtime_shim.slots import LARGEST_VARIABLE, keeping

LARGEST_OUTPUT = 16 * 1024 * 1024  # bytes


def read_output(content: bytes, names: Iterable[str]) -> dict[str, str]:
    """Read `NAME=value` and `NAME<<WORD` lines; raises ValueError where anything is not as it should be."""
    try:
        lines = iter(enumerate(content.decode().removesuffix("\n").split("\n"), start=1))
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    known, found = set(names), {}
    for number, line in lines if content else ():
        name, value = _pair(number, line, lines)
        if name not in known:
            raise ValueError(f"line {number}: no value of this name is kept")
        check_value(name, value)
        found[name] = value
    return found


def check_value(name: str, value: str) -> None:
    """Raise ValueError where a value could not be a variable of another command (I7)."""
    if "\0" in value or len(value.encode()) > LARGEST_VARIABLE:  # what is not UTF-8 is a ValueError too
        raise ValueError(f"{name} has a NUL character, or more than {LARGEST_VARIABLE:,} bytes")


def _pair(number: int, line: str, lines: Iterable[tuple[int, str]]) -> tuple[str, str]:
    name, equals, value = line.partition("=")
    other, opens, word = line.partition("<<")
    if opens and len(other) < len(name):
        inner: list[str] = []
        for _, text in lines:
            if text == word:
                return other, "\n".join(inner)
            inner.append(text)
        raise ValueError(f"line {number}: {word} does not follow")
    if not equals:
        raise ValueError(f"line {number}: neither NAME=value nor NAME<<WORD")
    return name, value


def read_regular(path: Path) -> bytes:
    """Read a file that a command may have replaced by anything; one that is gone holds nothing."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is not a regular file")
        content = file.read(LARGEST_OUTPUT + 1)
    if len(content) > LARGEST_OUTPUT:
        raise ValueError(f"it is larger than {LARGEST_OUTPUT:,} bytes")
    return content


class ValuedCommands(Commands):
    """Runs shell units, some of which give values."""

    def perform(self, name: str, unit: Table) -> Done:
        """Run the command of a unit and read its values; where they are malformed it fails, and has none."""
        if "values" not in unit:
            return super().perform(name, unit)
        self.session.heed()
        try:
            with suppress(FileNotFoundError):
                self._file().unlink()  # a command may have put a link there
            self._file().open("xb").close()
        except OSError as error:
            self.session.rest()
            raise RefusedError(f"{self._file()}: {error.strerror}") from None
        try:
            done = super().perform(name, unit)
            values = read_output(read_regular(self._file()), unit["values"])
        except (ValueError, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            return Done("fail", f"the file of RDC_OUTPUT is refused: {reason}")
        finally:
            with suppress(OSError):
                self._file().unlink()
        return done._replace(verbs=keeping("", values))

    def environment(self, unit: Table, **more: str) -> dict[bytes, bytes]:
        """Add RDC_OUTPUT where values are kept."""
        return super().environment(unit, **more, **({"RDC_OUTPUT": str(self._file())} if "values" in unit else {}))

    def assumed(self, name: str, word: str) -> Done:
        """Take the word and the values that were given for what came of a unit (I16)."""
        values: dict[str, str] = {}
        for given in self.session.options.value:
            key, equals, value = given.partition("=")
            if not equals or key not in self.session.program["units"][name].get("values", ()):
                raise RefusedError(f"--value {given}: expected NAME=VALUE with a name that {name} keeps")
            try:
                check_value(key, value)
            except ValueError as error:
                raise RefusedError(f"--value {error}") from None
            values[key] = value
        return super().assumed(name, word)._replace(verbs=keeping("", values))

    def _file(self) -> Path:
        return self.session.folder / "output"


def add_value(_program: Table, parsers: dict[str, argparse.ArgumentParser]) -> None:
    """Add --value, which goes with --assume."""
    for name in ("run", "resume"):
        text = "a value of the interrupted command, with --assume"
        parsers[name].add_argument("--value", action="append", default=[], metavar="NAME=VALUE", help=text)


PERFORMERS["shell"] = ValuedCommands
OPTIONS.append(add_value)
