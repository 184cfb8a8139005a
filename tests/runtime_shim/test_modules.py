"""The editions: modules that can be put into one file, and the file alone runs."""

from __future__ import annotations

import ast
import builtins
import io
import re
import subprocess
import symtable
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from tokenize import COMMENT, generate_tokens

import pytest

from backends.python.edition import LOADED, WORKER, joined, opening, publisher, runtime, runtime_for
from benchmarks.sizes import lines_of_code
from runtime_shim.editions import CALLERS, EDITIONS, PUBLISH
from tests.conftest import ROOT
from tests.runtime_shim.edition_modules import FOLDER, NAMES, WHOLE, text_of, tree_of
from tests.support.interpreters import end_of_support
from tests.support.process import ask, program, shell

pytestmark = pytest.mark.process

PACKAGES = {"dbos", "prometheus_client", "psycopg"}
"""What workers may import, when they need it."""

APART = {"publish"}
"""Folders whose modules are in no edition."""


def own_names(tree: ast.Module) -> list[str]:
    names: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found = (name for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))
            names += [name.id for name in found if isinstance(name.ctx, ast.Store)]
    return names


def imports_of(tree: ast.Module) -> list[ast.Import | ast.ImportFrom]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


def is_ours(node: ast.Import | ast.ImportFrom) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module or "").startswith("runtime_shim.")


def test_every_module_is_in_an_edition() -> None:
    found = (path.relative_to(FOLDER).with_suffix("").parts for path in FOLDER.rglob("*.py"))
    rooms = {".".join(parts) for parts in found if parts[-1] != "__init__" and parts[0] not in APART}
    assert rooms - {"editions"} == set(NAMES)


def test_names_are_unique() -> None:
    foreign = (node for name in NAMES for node in imports_of(tree_of(name)) if not is_ours(node))
    imported = {alias.name for node in foreign for alias in node.names}
    for modules in WHOLE:
        counts = Counter(name for module in set(modules) for name in own_names(tree_of(module)))
        assert [name for name, count in counts.items() if count > 1] == []
        assert imported & set(counts) == set()
        assert not {"RUNTIME", "Checked", "name", "path", LOADED} & set(counts), "a program has these itself"


def test_modules_are_fit_for_an_edition() -> None:
    for name in NAMES:
        is_fit(name)
    text = joined(["engine.program", "engine.walk"])
    assert text.index("class UsageError(") < text.index("def follow("), "they keep their order"


def is_fit(name: str) -> None:
    """See that an edition can have a module: its imports, and where it looks for other things."""
    tree = tree_of(name)
    assert ast.get_docstring(tree), name
    of_types = set(chain.from_iterable(map(ast.walk, for_types(tree))))
    needed = {node for node in imports_of(tree) if node not in of_types}
    assert "__future__" not in {node.module for node in needed if isinstance(node, ast.ImportFrom)}, name
    late = needed - set(tree.body)
    assert all(isinstance(node, ast.Import) for node in late), f"what {name} imports late is a module, not ours"
    early = {alias.name for node in needed - late if isinstance(node, ast.Import) for alias in node.names}
    assert not early & PACKAGES, f"a worker without a package of {name} can say so"
    assert all(alias.asname is None for node in needed for alias in node.names), name
    modules = {alias.name for node in needed if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module or "" for node in needed if isinstance(node, ast.ImportFrom)}
    before = [order[: order.index(name)] for order in map(tuple, map(dict.fromkeys, WHOLE)) if name in order]
    for module in modules:
        if module.startswith("runtime_shim"):
            assert all(module.removeprefix("runtime_shim.") in order for order in before), (name, module)
            continue
        top = module.split(".")[0]
        assert top in sys.stdlib_module_names or (top in PACKAGES and name.startswith("targets.dbos.")), (name, top)
    assert "__file__" not in {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}, name


def for_types(tree: ast.Module) -> list[ast.If]:
    """The blocks of a module that only a checker of types reads."""
    return [node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]


def test_modules_are_in_programs_as_in_the_repository() -> None:
    for name in (*NAMES, *PUBLISH):
        text, (heading, _, rest) = text_of(name), joined([name]).partition("\n")
        assert heading == f"# --- runtime_shim/{name.replace('.', '/')}.py"
        lines, left = text.splitlines(keepends=True), rest.splitlines(keepends=True)
        tree = tree_of(name)
        left_out = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)] + for_types(tree)
        gone = {number for node in left_out for number in range(node.lineno, (node.end_lineno or 0) + 1)}
        stay = [line for number, line in enumerate(lines, 1) if number not in gone]
        assert [line for line in left if line.strip()] == [line for line in stay if line.strip()]
        below = rest.partition(ast.get_docstring(tree, clean=False) or "")[2].partition('"""')[2]
        assert text.endswith(below.lstrip("\n"))


def test_blocks_for_types_have_only_imports_from_the_edition() -> None:
    for name, block in ((each, block) for each in NAMES for block in for_types(tree_of(each))):
        assert all(isinstance(node, ast.ImportFrom) and is_ours(node) for node in block.body), name
        named = (node.module or "" for node in block.body if isinstance(node, ast.ImportFrom))
        modules = {module.removeprefix("runtime_shim.") for module in named}
        assert all(modules <= set(others) for others in WHOLE if name in others), name


@cache
def names_in(source: str) -> tuple[set[str], set[str]]:
    """The names that code, which Python 3.9 can read, reads as those of its module; and those that the module has."""
    ast.parse(source, feature_version=(3, 9))
    module = symtable.symtable(source, "program.py", "exec")
    tables, read = [module], set[str]()
    had = {each.get_name() for each in module.get_symbols() if each.is_assigned() or each.is_imported()}
    while tables:
        table = tables.pop()
        tables += table.get_children()
        names = (each for each in table.get_symbols() if each.is_referenced())
        read.update(each.get_name() for each in names if each.is_global() or table is module)
    return read - set(dir(builtins)), had


def undefined(source: str, beside: str = "") -> set[str]:
    """The names that code reads and that neither its module, nor the one beside it, nor Python has."""
    read, had = names_in(source)
    return read - had - names_in(beside)[1]


def test_all_that_an_edition_mentions_is_in_it() -> None:
    for name in EDITIONS:
        assert undefined(runtime(name)) == set(), name
    for part in (name for name in CALLERS if name.startswith(WORKER)):
        assert undefined(runtime_for(part), runtime(part.removeprefix(f"{WORKER}-"))) == set(), part
    assert undefined(runtime("commands").replace("\ndef unframed(", "\ndef renamed(")) == {"unframed"}, (
        "it would be noticed"
    )


CALLED = {"make": ("values", "agents", "stepspec"), "github": ("commands", "values", "agents", "stepspec")}
"""The parts for callers with the editions that they may have beside them."""


@pytest.mark.parametrize("caller", CALLED)
def test_all_that_a_part_for_a_caller_mentions_is_in_the_editions(caller: str) -> None:
    text = runtime_for(caller)
    assert undefined(text) == set()
    parts = (node for node in ast.parse(text).body if isinstance(node, ast.ImportFrom) and node.module == LOADED)
    found = {alias.name for node in parts for alias in node.names}
    for name in CALLED[caller]:
        had = set(chain.from_iterable(own_names(tree_of(module)) for module in EDITIONS[name].modules))
        assert found - {"EXTENSIONS"} <= had, name  # which the joiner writes


def test_no_comment_or_docstring_has_the_number_of_a_rule() -> None:
    """A stranger cannot look it up."""
    for text in (*map(joined, ([name] for name in NAMES)), *map(opening, EDITIONS), publisher()):
        tokens = generate_tokens(io.StringIO(text).readline)
        found = [token.string for token in tokens if token.type == COMMENT or token.string.startswith('"""')]
        assert found
        assert not [each for each in found if re.search(r"\((?:[A-Z]\d+|rule \d+)\b|[Rr]ule \d", each)]


def test_no_edition_executes_text() -> None:
    in_editions = dict.fromkeys(module for edition in EDITIONS.values() for module in edition.modules)
    trees = chain(map(tree_of, in_editions), (ast.parse(opening(name)) for name in EDITIONS))
    called = (node.func for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call))
    assert not {"exec", "eval", "compile", "__import__"} & {each.id for each in called if isinstance(each, ast.Name)}


def changed_in_place(tree: ast.Module) -> set[str]:
    """The names of a module that something in it changes: by a method, an index, or `global`."""
    own, found = set(own_names(tree)), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            found |= set(node.names)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            changes = node.func.attr in CHANGES and isinstance(node.func.value, ast.Name)
            found |= {node.func.value.id} if changes and isinstance(node.func.value, ast.Name) else set()
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            found |= {node.value.id} if isinstance(node.value, ast.Name) else set()
    bound = {arg.arg for arg in ast.walk(tree) if isinstance(arg, ast.arg)}
    inner = {
        name.id
        for function in ast.walk(tree) if isinstance(function, ast.FunctionDef)
        for name in ast.walk(function) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }  # fmt: skip
    return (found & own) - (bound | inner)


CHANGES = {"append", "extend", "insert", "add", "update", "setdefault", "pop", "popitem", "remove", "discard", "clear"}


def test_no_module_has_a_state() -> None:
    for name in NAMES:
        assert changed_in_place(tree_of(name)) == set(), name
        body = (node.value for node in tree_of(name).body if isinstance(node, ast.Expr))
        assert [value for value in body if isinstance(value, ast.Call)] == [], f"importing {name} has no effect"
    tree = ast.parse("LIST = []\nTABLE = {}\ndef f(x):\n    LIST.append(x)\n    TABLE[x] = 1\n    x.append(1)\n")
    assert changed_in_place(tree) == {"LIST", "TABLE"}, "it would be found"


@pytest.mark.parametrize(("kind", "which"), [("shell", "oldest"), ("ask", "newest")])
def test_a_file_with_an_edition_runs_alone(tmp_path: Path, kind: str, which: str) -> None:
    table = program({"1": shell("echo hello", "COMPLETE") if kind == "shell" else ask("COMPLETE")})
    main = 'if __name__ == "__main__":\n    sys.exit(main(PROGRAM, EXTENSIONS))\n'
    script = tmp_path / "one.py"
    script.write_text(f"{runtime('commands')}\nPROGRAM = {table!r}\n{main}")
    (tmp_path / "answers").write_text("pass\n")
    words = [end_of_support(which), "-I", "-W", "error", str(script), "run", "--answers", "answers"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "rdc: COMPLETE all done"


# --- What `docs/explanation/runtime.md` states of editions: what they import, start and send --------------------------

CONNECTING = {"asyncio", "ftplib", "http.client", "poplib", "smtplib", "socketserver", "ssl", "urllib.request"}
STARTING = {"exec", "fork", "popen", "posix_spawn", "posix_spawnp", "spawn", "system"}


def imported_by(text: str) -> Iterator[str]:
    """The modules that a text imports, also inside of functions and of the programs that it starts."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "\nimport " in node.value:
            yield from imported_by(node.value)


def test_no_edition_can_open_a_connection_and_small_ones_start_only_shells() -> None:
    by_module = {name: set(imported_by(text_of(name))) for name in NAMES}
    for name, edition in EDITIONS.items():
        found = set(imported_by(opening(name))).union(*(by_module[module] for module in edition.modules))
        assert not found & CONNECTING, name
        if "socket" in found:  # a pair of sockets within the program is no connection
            assert set(re.findall(r"socket\.(\w+)", runtime(name))) == {"socketpair"}
        if name in ("script", "commands"):
            assert STARTING.intersection(re.findall(r"os\.(\w+)\(", runtime(name))) <= {"posix_spawn", "posix_spawnp"}
            assert "subprocess" not in found
    assert "urllib.request" in set(imported_by(runtime_for("github"))), "the part for workflows can"


def test_the_page_has_each_edition_in_each_table_and_its_length() -> None:
    page = (ROOT / "docs" / "explanation" / "runtime.md").read_text(encoding="utf-8")
    lengths = {name: lines_of_code(joined([name])) for name in NAMES}
    for name, edition in EDITIONS.items():
        assert len(re.findall(rf"^\|[^|\n]*`{name}`", page, re.MULTILINE)) == 3
        [written] = re.findall(rf"^\| `{name}` \|.*\| ([\d,]+) \|$", page, re.MULTILINE)
        own = lines_of_code(opening(name)) + sum(lengths[module] for module in edition.modules)
        assert abs(int(written.replace(",", "")) - own) <= 50, name
