"""One fuzzing process: `python -m tests.fuzzing.worker ENTRY [arguments of libFuzzer]`."""

import pkgutil
import random
import sys
from importlib import import_module
from typing import Any

OURS = ("compiler", "backends", "rdc", "runtime_shim")


def main(name: str, arguments: list[str]) -> None:
    """Fuzzes an entry until libFuzzer ends the process."""
    atheris: Any = import_module("atheris")  # it has no types, and there are systems without it
    with atheris.instrument_imports(include=list(OURS)):
        for package in map(import_module, OURS):
            for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
                if not module.name.endswith("__main__"):
                    import_module(module.name)
    entries = import_module("tests.fuzzing.entries")  # now, when all that it imports is instrumented
    mutated = import_module("tests.support.any_text").mutated
    entry = entries.ENTRIES[name]

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        moves = random.Random(seed)
        if moves.random() < 0.3:
            return bytes(atheris.Mutate(data, most))
        text: str = mutated(data.decode("utf-8", "surrogateescape"), moves, entry.fragments)
        return text.encode("utf-8", "surrogateescape")[:most]

    itself = f"{sys.executable} -m {__spec__.name} {name}"  # which libFuzzer runs to minimize a corpus
    atheris.Setup([itself, *arguments], entry.run, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
