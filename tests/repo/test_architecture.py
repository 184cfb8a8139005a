"""The folders of the product: doors and rooms, the direction of imports, sizes, and paths that exist."""

import ast
import re
import sys
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path, PurePosixPath

import networkx as nx
import pytest

from backends.registry import BACKENDS
from benchmarks.sizes import MOST_OF_PRODUCT, MOST_OF_TESTS
from compiler.frontends import FRONT_ENDS
from compiler.passes import PASSES
from rdc.commands import COMMANDS
from runtime_shim.editions import CALLERS, EDITIONS, PUBLISH
from tests.conftest import ROOT
from tests.repo.modules import (
    MODULES,
    NAMES,
    OURS,
    PRODUCT,
    dotted,
    functions,
    imports,
    needed,
    nodes,
    shown,
    strings,
    tree,
)

# What the modules of a folder may import: our own folders, and packages that are not of the standard library (pydantic
# brings pydantic_core, which has the types of its errors).
MAY_IMPORT = {
    folder: set(names.split())
    for folder, names in {
        "rdc": "rdc backends compiler runtime_shim click msgspec pydantic pygraphviz pygls lsprotocol mcp yaml"
        " packaging tomlkit watchfiles",
        "backends": "backends compiler runtime_shim jinja2 msgspec pydantic pydantic_core",
        "compiler": "compiler grammars lark msgspec networkx packaging pydantic pydantic_core pyromark yaml",
        "runtime_shim": "runtime_shim",
        "grammars": "",
    }.items()
}

OF_WORKERS = {"dbos", "prometheus_client", "psycopg"}
"""What only the part of the runtime for workers may import."""

PURE = {
    *("runtime_shim.io.reading", "runtime_shim.tasks.verdicts", "runtime_shim.values.fitting"),
    *("runtime_shim.stepspec.tool_schemas", "runtime_shim.stepspec.step_builder"),
}
"""Modules of the runtime that the compiler asks too, so that an answer, an input, the arguments of a tool and the words
of a validation have one meaning (I8, I12, B9, B11)."""

MOST_MODULES = 516
LONGEST_MODULE = 500
LONGEST_FUNCTION = 40
SMALL_MODULE = 60

MOST_DEFERRED = 73
"""Imports inside functions: doors, such as the command that was asked for, and a few heavy packages."""

DOORS = {
    "compiler": {"driver", "version"},
    "compiler/frontends": set[str](),
    "rdc": {"__main__", "cli", "api"},
    "backends": {"base", "registry"},
    "runtime_shim": {"editions"},
}
"""The modules of a top folder. Everything else is in a room, which is a folder."""

ORDER = {
    "compiler": (
        *("version", "text", "diagnostics", "ir reading", "analyses rules scenarios project", "passes"),
        *("frontends/common", f"frontends/{' frontends/'.join(FRONT_ENDS)}", "frontends", "importers driver"),
    ),
    "rdc": (
        *("terminal", "documents draw runs output report trace diff calls", "build testing rewrite importing init"),
        *("api", "looking lsp agents", "commands", "cli", "__main__"),
    ),
    "backends": ("options", "common scheduling", "base", "picture python", " ".join(BACKENDS), "registry"),
    "runtime_shim": ("engine", "io publish", "values", "tasks", "operator", "stepspec cli", "targets", "editions"),
}
"""The floors of each top folder, from the ground up. A room imports from its own floor and those below it."""

PARTS = ("syntax", "declarations", "parse", "link", "check lower marks", "format", "frontend")
"""The same for the parts of a front end. A check may ask how a step is lowered, and for the places of names."""

GENERIC = {"document", "model", "rules", "common"}

NAMED = {"frontend", "syntax", "parse", "check", "lower", "marks"}
"""Parts that each front end has, even if they are small."""

ENTRIES = {"parse": "parse/document.py", "check": "check/rules.py", "lower": "lower/document.py"}
"""The module with the entry function of a part that is a folder."""

KNOWING = {"rdc/runs/tables.py": {"backends.python.step_calls"}, "rdc/looking/drawing.py": {"backends.dot"}}
"""Who knows a target without being one: `rdc run` runs the table that a Python program would build."""


def test_few_imports_are_deferred() -> None:
    """Everything else is imported at the top, so that circles show."""
    found = {
        f"{shown(path)}:{node.lineno}"
        for path in MODULES
        for function in functions(path)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert len(found) <= MOST_DEFERRED, "\n".join(sorted(found))


@pytest.mark.parametrize("folder", OURS)
def test_imports_point_downwards(folder: str) -> None:
    found = ((path, module) for path in MODULES if path.is_relative_to(ROOT / folder) for module, _ in imports(path))
    for path, module in found:
        top = module.split(".", 1)[0]
        if folder == "compiler" and module in PURE:
            continue
        if path.is_relative_to(ROOT / "runtime_shim" / "targets" / "dbos") and top in OF_WORKERS:
            continue
        assert top in MAY_IMPORT[folder] or top in sys.stdlib_module_names, f"{shown(path)} imports {module}"


def test_a_front_end_knows_no_other_and_no_pass_and_backends_see_no_syntax_tree() -> None:
    for name in FRONT_ENDS:
        for path in (ROOT / "compiler" / "frontends" / name).rglob("*.py"):
            for module, _ in imports(path):
                if module.startswith("compiler.frontends."):
                    own = (f"compiler.frontends.{name}", "compiler.frontends.common")
                    assert f"{module}.".startswith(tuple(f"{room}." for room in own)), shown(path)
                assert not module.startswith(("compiler.passes", "compiler.driver")), shown(path)
    for path in (path for path in MODULES if path.is_relative_to(ROOT / "backends")):
        assert not any(module.startswith("compiler.frontends") for module, _ in imports(path)), shown(path)


@pytest.mark.parametrize("folder", DOORS)
def test_a_top_folder_has_only_doors_and_rooms(folder: str) -> None:
    assert {path.stem for path in (ROOT / folder).glob("*.py")} - {"__init__"} <= DOORS[folder]


def test_each_room_says_in_one_line_what_is_inside_and_a_generic_name_stands_alone() -> None:
    """A folder of that name beside a module would say the same of other modules."""
    for path in MODULES:
        assert path.stem not in GENERIC or not (path.parent / path.stem).is_dir(), shown(path)
        if path.name == "__init__.py" and path.parent.name not in {"rdc", "passes"} and len(tree(path).body) == 1:
            assert re.fullmatch(r'""".+\."""\n', path.read_text(encoding="utf-8")), shown(path)


def test_no_files_and_no_rooms_import_each_other_in_a_circle() -> None:
    """Imports in functions and for types count: a reader follows them, too."""
    files: nx.DiGraph[str] = nx.DiGraph((dotted(path), other) for path in MODULES for other in needed(path))
    apart = (_rooms_apart(NAMES[one], NAMES[other]) for one, other in files.edges)
    rooms: nx.DiGraph[str] = nx.DiGraph(filter(None, apart))
    for graph in (files, rooms):
        assert [part for part in nx.strongly_connected_components(graph) if len(part) > 1] == []


def _rooms_apart(one: Path, other: Path) -> tuple[str, str] | None:
    """The two folders side by side that the modules are in, or None if one of them is above the other."""
    first, second = one.parent.relative_to(ROOT).parts, other.parent.relative_to(ROOT).parts
    common = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))))
    if not common or common == min(len(first), len(second)):
        return None
    return "/".join(first[: common + 1]), "/".join(second[: common + 1])


@pytest.mark.parametrize("folder", ORDER)
def test_rooms_import_from_their_own_floor_and_those_below(folder: str) -> None:
    floors = {room: number for number, rooms in enumerate(ORDER[folder]) for room in rooms.split()}
    for path in (path for path in MODULES if path.is_relative_to(ROOT / folder)):
        for other in (NAMES[name] for name in needed(path) if NAMES[name].is_relative_to(ROOT / folder)):
            one, another = _room(path, folder), _room(other, folder)
            if "" not in (one, another):
                assert floors[one] >= floors[another], f"{shown(path)} imports {shown(other)}"


def _room(path: Path, folder: str) -> str:
    """The room of a module, or the door that it is; "" for the folder itself."""
    parts = path.relative_to(ROOT / folder).parts
    if parts[0] == "frontends" and len(parts) > 2:
        return "/".join(parts[:2])
    return parts[0].removesuffix(".py").removeprefix("__init__")


@pytest.mark.parametrize("name", FRONT_ENDS)
def test_the_parts_of_a_front_end_follow_each_other(name: str) -> None:
    home = ROOT / "compiler" / "frontends" / name
    steps = {part: number for number, parts in enumerate(PARTS) for part in parts.split()}
    for path in home.rglob("*.py"):
        for other in (NAMES[found] for found in needed(path) if NAMES[found].is_relative_to(home)):
            one, another = (each.relative_to(home).parts[0].removesuffix(".py") for each in (path, other))
            if one in steps and another in steps:
                assert steps[one] >= steps[another], f"{shown(path)} imports {shown(other)}"
    for part, entry in ENTRIES.items():
        if (home / part).is_dir():
            assert part in {node.name for node in tree(home / entry).body if isinstance(node, ast.FunctionDef)}, entry


def test_only_a_target_knows_what_is_in_its_folder() -> None:
    """Everything else asks the registry. The program, and its picture in a summary, are parts of other targets."""
    for path in MODULES:
        parts = path.relative_to(ROOT).parts
        own = {parts[1]} if parts[0] == "backends" else set[str]()
        used = {name for name in needed(path) if name.startswith("backends.") and name.split(".")[1] in BACKENDS}
        others = {name for name in used if name.split(".")[1] not in own} - KNOWING.get(shown(path), set())
        if own & BACKENDS.keys():
            others = {name for name in others if name.split(".")[1] not in {"python", "mermaid"}}
        assert others == set(), shown(path)


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many lines a function has, its docstring and decorators left out."""
    first = function.body[0]
    documented = ast.get_docstring(function, clean=False) is not None
    docstring = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
    return (function.end_lineno or 0) - function.lineno + 1 - docstring


@pytest.mark.parametrize("folder", PRODUCT)
def test_nothing_is_long(folder: str) -> None:
    for path in (ROOT / folder).rglob("*.py"):
        lines = path.read_text(encoding="utf-8").count("\n")
        assert lines <= LONGEST_MODULE, f"{shown(path)} has {lines} lines"
        for function in functions(path):
            size = length(function)
            assert size <= LONGEST_FUNCTION, f"{shown(path)}: {function.name} has {size} lines"


def test_no_expression_has_a_possessive_group() -> None:
    """Python before 3.11.5 mismatches them (gh-106052); an atomic group, `(?>(?:a|b)*)`, means the same."""
    group = re.compile(r"(?<!\\)\)(?:[*+?]|\{[\d,]+\})\+(?!\?\{)")
    paths = [path for folder in ("compiler", "rdc", "backends") for path in (ROOT / folder).rglob("*.py")]
    assert [path for path in paths if group.search(path.read_text(encoding="utf-8"))] == []


def test_the_product_is_not_larger_than_planned() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in MODULES} == set(OURS)
    product = [path for path in MODULES if not path.is_relative_to(ROOT / "grammars")]
    assert len(product) > 60
    assert len(product) <= MOST_MODULES
    assert sum(path.read_text(encoding="utf-8").count("\n") for path in product) <= MOST_OF_PRODUCT
    assert sum(path.read_bytes().count(b"\n") for path in ROOT.glob("tests/**/*.py")) <= MOST_OF_TESTS


def registered() -> set[str]:
    """The modules that a table names: commands, passes, editions, and strings such as those of `Format`."""
    runtime = (each for edition in (*EDITIONS.values(), *CALLERS.values()) for each in edition.modules)
    return {
        *(f"rdc.commands.{name.replace('-', '_')}" for name in COMMANDS),
        *(f"compiler.passes.{name.replace('-', '_')}" for name in PASSES),
        *(f"runtime_shim.{name}" for name in (*runtime, *PUBLISH)),
        *(text for path in MODULES for text in strings(path) if text in NAMES),
        *(dotted(path.with_name(text)) for path in MODULES for text in strings(path) if re.fullmatch(r"\w+\.py", text)),
    }


def test_a_small_module_has_two_importers_or_an_entry_in_a_table() -> None:
    """Otherwise its importer has room for it."""
    known = registered()
    for path in MODULES:
        small = path.read_text(encoding="utf-8").count("\n") < SMALL_MODULE and path.name != "__init__.py"
        is_part = path.parent.parent.name == "frontends" and path.stem in NAMED
        if small and path.stem != "__main__" and not is_part and dotted(path) not in known:
            users = [other for other in MODULES if dotted(path) in needed(other)]
            assert len(users) > 1, f"{shown(path)}: {[shown(user) for user in users]}"


PATHS = re.compile(r"(?<![\w./])((?:[\w.-]+/)+[\w.-]+\.(?:py|sh|toml|jinja|lark|txt|mjs))\b(?!\()")
"""Files with their folders, in docstrings."""

EXAMPLES = {"OUT/a/x.py", "a/c/program.py", "../c/program.py", "rdc/x.py", "../rdc/x.py", "../rdc/NAME.py"}

PAGES = ("CONTRIBUTING.md", "README.md", "docs/architecture.md")
FOLDERS = (*OURS, "benchmarks", "tests", "golden", "examples", "docs")
IN_PAGES = re.compile(rf"(?<![\w./-])((?:{'|'.join(FOLDERS)})/(?:[\w./*<>-]|{{[\w./*,-]+}})*[\w*/}}>])")
"""Paths in pages and in the configuration, from one of our folders on."""


def docstrings(path: Path) -> Iterator[str]:
    """All strings of a module that are statements."""
    for node in nodes(path):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def test_docstrings_name_only_files_that_exist() -> None:
    """A renamed file would leave readers without a trace. Most files name no other, and need not be parsed for that."""
    files = (path for folder in (*OURS, "tests", "tools", "benchmarks") for path in (ROOT / folder).rglob("*.py"))
    modules = [path for path in files if PATHS.search(path.read_text(encoding="utf-8"))]
    named = {(found, path) for path in modules for text in docstrings(path) for found in PATHS.findall(text)}
    assert len(named) > 20
    missing = {
        f"{path.relative_to(ROOT)}: {found}"
        for found, path in named
        if found not in EXAMPLES and not any((base / found).exists() for base in (ROOT, path.parent, path.parents[1]))
    }
    assert missing == set()


@pytest.mark.parametrize("page", [*PAGES, "pyproject.toml", "Makefile"])
def test_pages_and_configuration_name_only_paths_that_exist(page: str) -> None:
    written = IN_PAGES.findall((ROOT / page).read_text(encoding="utf-8"))
    found = {one if "{" in one else one.rstrip("}") for one in written if "<" not in one}
    missing = {one for one in found for each in _alternatives(one) if not any(ROOT.glob(each.rstrip("/")))}
    assert missing == set()


def _alternatives(path: str) -> Iterator[str]:
    before, brace, rest = path.partition("{")
    if not brace:
        yield path
        return
    words, _, after = rest.partition("}")
    for word in words.split(","):
        yield from _alternatives(before + word + after)


def test_strings_name_only_modules_that_exist() -> None:
    """Commands, front ends, targets and drivers are imported by a name in a table."""
    pattern = re.compile(rf"(?:{'|'.join(PRODUCT)})(?:\.[a-z_]\w*)+(?::\w+)?")
    found = {(text, path) for path in MODULES for text in strings(path) if pattern.fullmatch(text)}
    assert len(found) > 20
    roots = {"rdc.backends", "rdc.showFlow", "rdc.toml", "rdc.lock", "rdc.yml"}  # entry points, a command, files
    assert {text for text, _ in found if PurePosixPath(text).name.partition(":")[0] not in NAMES} <= roots
    for edition in EDITIONS.values():
        assert {f"runtime_shim.{module}" for module in edition.modules} <= NAMES.keys()
        assert len(edition.kinds()) == len(edition.extensions)
