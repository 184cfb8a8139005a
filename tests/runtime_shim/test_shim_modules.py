"""The modules can be put into one file: their names are unique and they need nothing but Python."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from runtime_shim import BESIDE, MODULES, PUBLISHING, RUNNER, modules
from tests.interpreters import interpreter
from tests.runtime_shim.shim_process import ROOT, Table, ask, program, shell

FOLDER = ROOT / "runtime_shim"


def text_of(name: str) -> str:
    """The text of a module, by its name below `runtime_shim`."""
    return (FOLDER / f"{name.replace('.', '/')}.py").read_text()


NAMES = [name for name, _ in MODULES]
STEPS = [name for name, _ in RUNNER]
TREES = {name: ast.parse(text_of(name), feature_version=(3, 9)) for name in {*NAMES, *STEPS}}
"""Those of the Python target, and those that the steps of a workflow need."""


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


def bundle(table: Table) -> str:
    """One file made of the modules that a program needs."""
    parts = [f"PROGRAM = {table!r}"]
    for name in modules(table):
        lines = text_of(name).splitlines(keepends=True)
        for node in reversed(TREES[name].body):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("runtime_shim."):
                del lines[node.lineno - 1 : node.end_lineno]
        parts.append("".join(lines))
    return "\n".join([*parts, 'if __name__ == "__main__":\n    sys.exit(main(PROGRAM))\n'])


def test_every_module_is_named() -> None:
    assert sorted({*NAMES, *BESIDE, *PUBLISHING, *STEPS}) == sorted(
        ".".join(path.relative_to(FOLDER).with_suffix("").parts)
        for path in FOLDER.rglob("*.py")
        if path.stem != "__init__"
    )


def test_names_are_unique() -> None:
    foreign = (node for tree in TREES.values() for node in imports_of(tree) if not is_ours(node))
    imported = {alias.name for node in foreign for alias in node.names}
    for together in (NAMES, STEPS):
        counts = Counter(name for module in together for name in own_names(TREES[module]))
        assert [name for name, count in counts.items() if count > 1] == []
        assert imported & set(counts) == set()


@pytest.mark.parametrize(("order", "name"), [*((NAMES, name) for name in NAMES), *((STEPS, name) for name in STEPS)])
def test_module_is_fit_for_bundling(order: list[str], name: str) -> None:
    tree = TREES[name]
    assert ast.get_docstring(tree)
    assert "__future__" not in {node.module for node in imports_of(tree) if isinstance(node, ast.ImportFrom)}
    late = set(imports_of(tree)) - set(tree.body)
    assert all(isinstance(node, ast.Import) for node in late), "what is imported late is a module of Python's library"
    for node in imports_of(tree):
        if isinstance(node, ast.Import):
            needed = [alias.name for alias in node.names]
            assert all(alias.asname is None for alias in node.names)
        else:
            assert node.level == 0
            needed = [node.module or ""]
            assert all(alias.asname is None for alias in node.names)
        for module in needed:
            if module.startswith("runtime_shim"):
                assert module.removeprefix("runtime_shim.") in order[: order.index(name)]
            else:
                assert module.split(".")[0] in sys.stdlib_module_names
    assert "__file__" not in {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


@pytest.mark.parametrize("order", [MODULES, RUNNER])
def test_core_does_not_need_the_modules_of_tasks(order: tuple[tuple[str, str], ...]) -> None:
    always = [name for name, task in order if not task]
    for name in always:
        for node in imports_of(TREES[name]):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("runtime_shim."):
                assert (node.module or "").removeprefix("runtime_shim.") in always


IMPLIED = {"outputs": {"shell", "slots"}, "texts": {"shell", "slots"}, "env": {"shell"}}
IMPLIED |= {need: {"contract"} for _, needs in MODULES for need in needs.split(" ") if need.startswith("stage-")}
"""What a program has that has this."""


@pytest.mark.parametrize(("name", "needs"), MODULES)
def test_module_comes_with_all_that_it_imports(name: str, needs: str) -> None:
    for alternative in needs.split(" "):
        found = {"", *alternative.split("+")}
        found |= {other for feature in found for other in IMPLIED.get(feature, ())}
        there = [other for other, need in MODULES if any(found.issuperset(n.split("+")) for n in need.split(" "))]
        for node in imports_of(TREES[name]):
            if is_ours(node) and isinstance(node, ast.ImportFrom):
                assert (node.module or "").removeprefix("runtime_shim.") in there, f"{name} for {alternative}"


@pytest.mark.share(2)
@pytest.mark.parametrize("version", ["3.9", "3.10", "3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize("kind", ["shell", "ask"])
def test_bundled_file_runs_alone(tmp_path: Path, kind: str, version: str) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    table = program({"1": shell("echo hello", "COMPLETE") if kind == "shell" else ask("COMPLETE")})
    text = bundle(table)
    assert ("posix_spawn" in text) == (kind == "shell")
    assert ("class Prompts" in text) == (kind == "ask")
    script = tmp_path / "one.py"
    script.write_text(text)
    (tmp_path / "answers").write_text("pass\n")
    words = [python, "-I", "-W", "error", str(script), "run", "--answers", "answers"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "rdc: COMPLETE all done"
