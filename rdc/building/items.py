"""The items of a generated file to review, as in `rdc.lock`: a kind and a value (B-5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import assert_never

from backends.make.makefile import driver_sha256, driver_text
from compiler.ir.program import Program
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Shell, Stage, Tool
from compiler.source import sha256_of
from rdc.generation import Product
from rdc.reporting.cells import visible

COMMON = "default"
"""The agent of prompts without an agent."""

_BUNDLED = re.compile(
    rb"^# The runtime of rdc [^\n]{1,40}, edition ([a-z]{1,20}) \(sha256 ([0-9a-f]{64})\)\.$", re.MULTILINE
)
_SHARED = re.compile(r"(?:.*/)?rdc_(?:runtime_)?([a-z_]+?)_[0-9a-f]{8}\.(?:py|mk)")


def items_of(program: Program, product: Product, files: Mapping[str, bytes]) -> dict[str, list[str]]:
    """Return the items of a document's files, sorted, by path. The main file must come first in `files`."""
    main, *companions = files
    found = {main: {*_of_program(program), *product.items, *_bundled(files[main])}}
    for path in companions:
        name = runtime_at(path)
        found[path] = {f"runtime {name} {sha256_of(files[path])}"} if name else set(_bundled(files[path]))
    return {path: sorted(map(visible, items)) for path, items in found.items() if items}


def runtime_at(path: str) -> str:
    """Return the name of the shared runtime at a path, or ""."""
    match = _SHARED.fullmatch(path)
    return match[1] if match else ""


def _of_program(program: Program) -> Iterator[str]:
    """Yield the items that don't depend on the target."""
    yield from (f"secret {name}" for name in program.secrets)
    yield from (f"input {given.name}" for given in program.inputs)
    for node in program.nodes:
        yield from (f"env {constant.name}: {constant.value}" for constant in node.constants)
        match node.task:
            case Agent(agent):
                yield f"agent {agent or COMMON}"
            case Parallel(entries):
                yield from (f"agent {entry.agent or COMMON}" for entry in entries)
            case Tool(connection, tool):
                yield f"tool {connection}.{tool}"
            case Gate(gate):
                yield f"gate {gate}"
            case Shell() | Ask() | Stage() | Branch() | End():
                continue
            case _:
                assert_never(node.task)


def _bundled(data: bytes) -> Iterator[str]:
    """Yield the runtimes bundled in a file."""
    for edition, digest in _BUNDLED.findall(data):
        yield f"runtime {edition.decode()} {digest.decode()}"
    driver = driver_text()
    if data.startswith((b"#", b"MAKE")) and driver.encode() in data:
        yield f"runtime make-driver {driver_sha256()}"
