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
from functools import cache
from itertools import chain
from pathlib import Path
from tokenize import COMMENT, generate_tokens

import pytest

from backends.python.edition import LOADED, WORKER, joined, publisher, runtime, runtime_for
from runtime_shim.editions import CALLERS, EDITIONS, PUBLISH
from tests.support.interpreters import ENDS, VERSIONS, end_of_support, interpreter
from tests.support.process import ROOT, Table, ask, program, shell

FOLDER = ROOT / "runtime_shim"
BESIDE = (*CALLERS["make"].modules, *CALLERS["github"].modules)
WHOLE = [
    (*EDITIONS[name].modules, *BESIDE, *CALLERS[f"dbos-{name}"].modules) for name in ("values", "agents", "stepspec")
]
WHOLE += [EDITIONS[name].modules for name in ("script", "commands")]
"""What programs have, with all that callers add to an edition that they call."""

NAMES = list(dict.fromkeys(chain.from_iterable(WHOLE)))
PACKAGES = {"dbos", "prometheus_client", "psycopg"}
"""What workers may import, when they need it."""

APART = {"publish"}
"""Folders whose modules are in no edition."""


def text_of(name: str) -> str:
    """The text of a module, by its name below `runtime_shim`."""
    return (FOLDER / f"{name.replace('.', '/')}.py").read_text()


@cache
def tree_of(name: str) -> ast.Module:
    """The syntax of a module, as the oldest Python reads it."""
    return ast.parse(text_of(name), feature_version=(3, 9))


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


@pytest.mark.parametrize("name", NAMES)
def test_module_is_fit_for_an_edition(name: str) -> None:
    tree = tree_of(name)
    assert ast.get_docstring(tree)
    of_types = set(chain.from_iterable(map(ast.walk, for_types(tree))))
    needed = {node for node in imports_of(tree) if node not in of_types}
    assert "__future__" not in {node.module for node in needed if isinstance(node, ast.ImportFrom)}
    late = needed - set(tree.body)
    assert all(isinstance(node, ast.Import) for node in late), "what is imported late is a module, not ours"
    early = {alias.name for node in needed - late if isinstance(node, ast.Import) for alias in node.names}
    assert not early & PACKAGES, "a worker without a package can say so"
    assert all(alias.asname is None for node in needed for alias in node.names)
    modules = {alias.name for node in needed if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module or "" for node in needed if isinstance(node, ast.ImportFrom)}
    for module in modules:
        if not module.startswith("runtime_shim"):
            top = module.split(".")[0]
            assert top in sys.stdlib_module_names or (top in PACKAGES and name.startswith("targets.dbos."))
            continue
        for modules_in_order in WHOLE:
            order = list(dict.fromkeys(modules_in_order))
            if name in order:
                assert module.removeprefix("runtime_shim.") in order[: order.index(name)]
    assert "__file__" not in {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def for_types(tree: ast.Module) -> list[ast.If]:
    """The blocks of a module that only a checker of types reads."""
    return [node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]


@pytest.mark.parametrize("name", [*NAMES, *PUBLISH])
def test_a_module_is_in_a_program_as_in_the_repository(name: str) -> None:
    text, (heading, _, rest) = text_of(name), joined([name]).partition("\n")
    assert heading == f"# --- runtime_shim/{name.replace('.', '/')}.py"
    lines, left = text.splitlines(keepends=True), rest.splitlines(keepends=True)
    tree = ast.parse(text)
    left_out = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)] + for_types(tree)
    gone = {number for node in left_out for number in range(node.lineno, (node.end_lineno or 0) + 1)}
    kept = [line for number, line in enumerate(lines, 1) if number not in gone]
    assert [line for line in left if line.strip()] == [line for line in kept if line.strip()]
    assert text.endswith(rest.partition(ast.get_docstring(tree, clean=False) or "")[2].partition('"""')[2].lstrip("\n"))


@pytest.mark.parametrize("name", NAMES)
def test_blocks_for_types_have_only_imports_from_the_edition(name: str) -> None:
    for block in for_types(tree_of(name)):
        assert all(isinstance(node, ast.ImportFrom) and is_ours(node) for node in block.body)
        named = (node.module or "" for node in block.body if isinstance(node, ast.ImportFrom))
        modules = {name.removeprefix("runtime_shim.") for name in named}
        assert all(modules <= set(others) for others in WHOLE if name in others)


def undefined(source: str) -> set[str]:
    """The names that code reads as those of its module, and that neither the module nor Python has."""
    module = symtable.symtable(source, "program.py", "exec")
    tables, found = [module], set(dir(builtins))
    read: set[str] = set()
    found.update(each.get_name() for each in module.get_symbols() if each.is_assigned() or each.is_imported())
    while tables:
        table = tables.pop()
        tables += table.get_children()
        names = (each for each in table.get_symbols() if each.is_referenced())
        read.update(each.get_name() for each in names if each.is_global() or table is module)
    return read - found


@pytest.mark.parametrize("name", EDITIONS)
def test_all_that_an_edition_mentions_is_in_it(name: str) -> None:
    text = runtime(name)
    ast.parse(text, feature_version=(3, 9))
    assert undefined(text) == set()
    assert undefined(text.replace("\ndef unframed(", "\ndef renamed(")) == {"unframed"}, "it would be noticed"


CALLED = [(caller, name) for caller in ("make", "github") for name in ("commands", "values", "agents", "stepspec")]
CALLED = [pair for pair in CALLED if pair != ("make", "commands")]
"""The parts for callers with the editions that they may have beside them."""


@pytest.mark.parametrize(("caller", "name"), CALLED)
def test_all_that_a_part_for_a_caller_mentions_is_in_the_editions(caller: str, name: str) -> None:
    text = runtime_for(caller)
    tree = ast.parse(text, feature_version=(3, 9))
    assert undefined(text) == set()
    (loaded,) = (node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == LOADED)
    found = {alias.name for alias in loaded.names}
    assert found <= set(own_names(ast.parse(runtime(name))))


@pytest.mark.parametrize("part", [name for name in CALLERS if name.startswith(WORKER)])
def test_all_that_the_part_for_workers_mentions_is_in_it_or_in_the_edition(part: str) -> None:
    text = runtime_for(part)
    ast.parse(text, feature_version=(3, 9))
    assert undefined(runtime(part.removeprefix(f"{WORKER}-")) + text) == set()


TEXTS = {**{name: runtime(name) for name in EDITIONS}, **{name: runtime_for(name) for name in CALLERS}}
TEXTS["publish"] = publisher()


@pytest.mark.parametrize("name", TEXTS)
def test_no_comment_or_docstring_has_the_number_of_a_rule(name: str) -> None:
    """A stranger cannot look it up."""
    tokens = generate_tokens(io.StringIO(TEXTS[name]).readline)
    told = [token.string for token in tokens if token.type == COMMENT or token.string.startswith('"""')]
    assert told
    assert not [text for text in told if re.search(r"\((?:[A-Z]\d+|rule \d+)\b|[Rr]ule \d", text)]


@pytest.mark.parametrize("name", EDITIONS)
def test_no_edition_executes_text(name: str) -> None:
    called = (node.func for node in ast.walk(ast.parse(runtime(name))) if isinstance(node, ast.Call))
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


@pytest.mark.parametrize("name", NAMES)
def test_no_module_has_a_state(name: str) -> None:
    assert changed_in_place(tree_of(name)) == set()
    calls = [node for node in tree_of(name).body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    assert calls == [], "importing a module has no effect"


def test_a_state_of_a_module_would_be_found() -> None:
    tree = ast.parse("LIST = []\nTABLE = {}\ndef f(x):\n    LIST.append(x)\n    TABLE[x] = 1\n    x.append(1)\n")
    assert changed_in_place(tree) == {"LIST", "TABLE"}


def alone(table: Table) -> str:
    """A file with a table and an edition."""
    main = 'if __name__ == "__main__":\n    sys.exit(main(PROGRAM, EXTENSIONS))\n'
    return f"{runtime('commands')}\nPROGRAM = {table!r}\n{main}"


@pytest.mark.parametrize("which", ENDS)
@pytest.mark.parametrize("kind", ["shell", "ask"])
def test_a_file_with_an_edition_runs_alone(tmp_path: Path, kind: str, which: str) -> None:
    python = end_of_support(which)
    table = program({"1": shell("echo hello", "COMPLETE") if kind == "shell" else ask("COMPLETE")})
    script = tmp_path / "one.py"
    script.write_text(alone(table))
    (tmp_path / "answers").write_text("pass\n")
    words = [python, "-I", "-W", "error", str(script), "run", "--answers", "answers"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "rdc: COMPLETE all done"


@pytest.mark.parametrize("version", VERSIONS)
def test_every_interpreter_compiles_every_edition(version: str, tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    for name in EDITIONS:
        (tmp_path / f"{name}.py").write_text(runtime(name))
    words = [python, "-I", "-W", "error", "-m", "compileall", "-q", str(tmp_path)]
    assert subprocess.run(words, check=False).returncode == 0


def test_modules_that_are_joined_keep_their_order() -> None:
    text = joined(["engine.program", "engine.walk"])
    assert text.index("class UsageError(") < text.index("def follow(")
