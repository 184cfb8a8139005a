"""Registries agree with the tree, and each thing has one place: readers, issues, diagnostics and mocks."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

from backends.python.edition import runtime
from backends.registry import BACKENDS, load
from compiler.diagnostics.model import CODES
from compiler.frontends import FRONT_ENDS, all_options
from compiler.ir.edges import Effect, Test
from compiler.ir.features import IN_WORDS, Feature
from compiler.ir.program import Noun
from compiler.ir.tasks import Task
from compiler.passes import PASSES
from rdc.commands import COMMANDS, OF_RUN
from rdc.commands import load as load_command
from runtime_shim.editions import EDITIONS
from tests.conftest import ROOT
from tests.repo.modules import MODULES, NAMES, functions, imports, nodes, shown, strings, users_of
from tests.support.outputs import CHECKS

TABLES = {
    f"runtime_shim.{name}"
    for name in (
        *("values.defaults", "engine.program", "tasks.recipes", "tasks.verdicts", "editions", "targets.github.script"),
        *("targets.naming", "stepspec.step_builder", "stepspec.tool_schemas"),
    )
}
"""Modules of the runtime that targets use: tables that they write into their output, and a builder that shows them
which facts a program need not state."""


def test_the_runtime_is_a_text_to_the_backends() -> None:
    for path in MODULES:
        if path.is_relative_to(ROOT / "backends"):
            taken = {module for module, _ in imports(path) if module.startswith("runtime_shim")}
            assert taken <= TABLES, shown(path)


OF_ENGINE = {"nodes", "registers", "edges", "on", "do"}
"""Keys of what the engine runs."""


def test_only_the_builders_make_what_the_engine_runs() -> None:
    """The target prints calls from the graph. A table of its own would be a second way to the engine."""
    for path in MODULES:
        if path.is_relative_to(ROOT / "backends" / "python") or path.is_relative_to(ROOT / "rdc" / "commands"):
            dicts = [node for node in nodes(path) if isinstance(node, ast.Dict)]
            keys = {key.value for node in dicts for key in node.keys if isinstance(key, ast.Constant)}
            assert len(keys & OF_ENGINE) < 2, f"{shown(path)} writes {sorted(map(str, keys & OF_ENGINE))}"


def test_one_walk_is_in_programs_and_in_checks_of_their_journals() -> None:
    """A journal from an artifact is replayed as the engine ran it."""
    walking = {"choose", "follow"}
    defined = [(shown(path), one.name) for path in MODULES for one in functions(path) if one.name in walking]
    assert sorted(defined) == [("runtime_shim/engine/walk.py", name) for name in sorted(walking)]
    strict = ROOT / "runtime_shim" / "targets" / "github" / "journal_check.py"
    assert walking <= set(dict(imports(strict))["runtime_shim.engine.walk"])


def packages(folder: Path) -> set[str]:
    return {path.parent.name for path in folder.glob("*/__init__.py")}


def has_tests(name: str) -> bool:
    folders = ("backends", "compiler/frontends")
    return any(found for folder in folders for found in (ROOT / "tests" / folder / name).glob("test_*.py"))


def test_graph_algorithms_are_those_of_networkx() -> None:
    """Only a breadth-first search is our own, in one module; no other loop follows edges from a list of nodes."""
    assert users_of("networkx") == {"compiler/ir/graph.py"}
    ours = {"compiler/ir/graph.py", "compiler/analyses/exploration.py"}  # values change as edges are followed
    walks = {
        f"{shown(path)}:{loop.lineno}"
        for path in MODULES
        if shown(path) not in ours and not path.is_relative_to(ROOT / "runtime_shim")
        for loop in nodes(path)
        if isinstance(loop, ast.While) and {"pop", "popleft", "heappop"} & names_in(loop) and "edges" in names_in(loop)
    }
    assert walks == set()


def names_in(node: ast.AST) -> set[str]:
    attributes = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    return attributes | {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def test_warnings_and_passes_ask_one_exploration() -> None:
    """Single states are only enumerated for proofs of rules, and for `rdc trace`, which shows paths."""
    passes = {"compiler/passes/remove_impossible_edges.py", "compiler/rules/watch.py"}
    assert users_of("compiler.analyses.exploration") >= {"compiler/analyses/warnings.py", *passes}
    tracing = {"rdc/commands/trace.py", "rdc/testing/drafts.py"}
    enumerating = {"compiler/analyses/coverage.py", "compiler/rules/prove.py", *tracing}
    assert users_of("compiler.analyses.enumeration") == enumerating


def test_front_ends_and_their_folders_are_the_same() -> None:
    assert packages(ROOT / "compiler" / "frontends") - {"common"} == set(FRONT_ENDS)


@pytest.mark.parametrize("name", FRONT_ENDS)
def test_front_end_has_all_that_belongs_to_it(name: str) -> None:
    form = FRONT_ENDS[name]
    assert (form.name, form.module) == (name, f"compiler.frontends.{name}.frontend")
    assert form.noun in get_args(Noun), "what a program says of its document"
    assert form.marks == f"compiler.frontends.{name}.marks"
    assert callable(form.load_marks().marks_of)
    assert callable(form.load_marks().name_issue)
    assert form.schema in ("", *NAMES)
    for part in ("frontend", "syntax", "parse", "check", "lower", "marks"):
        room = ROOT / "compiler" / "frontends" / name
        assert (room / f"{part}.py").is_file() or (room / part / "__init__.py").is_file()
    assert all(file.startswith(name) for file in form.grammars)
    assert has_tests(name)
    page = ROOT / "docs" / "formats" / f"{name}.md"
    assert page.is_file(), f"there is no {shown(page)}"
    documents = [path for suffix in form.suffixes for path in (ROOT / "examples").rglob(f"*{suffix}")]
    assert documents
    stems = {path.name.split(".", 1)[0] for path in documents}
    assert stems & {path.name for path in (ROOT / "golden").iterdir()}, "no golden output"


# What still speaks of runbooks in the common rooms: a kind of group in the IR, names of codes, and an option's help.
OF_RUNBOOKS = {
    "runbook",
    *("almost-a-runbook", "prompt-with-runbooks", "runbook-not-found", "runbook-outside-project"),
    "Steps before the runbook. They run in each job, and again in a run that continues another.",
}


def texts(path: Path) -> Iterator[str]:
    """The texts in a module except for those that only readers of the code see."""
    unseen = {id(node.value) for node in nodes(path) if isinstance(node, ast.Expr)}
    for node in nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in unseen:
            yield node.value


def test_common_messages_speak_of_no_format() -> None:
    own = (ROOT / "compiler" / "importers", *(ROOT / "compiler" / "frontends" / name for name in FRONT_ENDS))
    for path in MODULES:
        if not any(path.is_relative_to(folder) for folder in own):
            plain = {text: text.lower().replace(".runbook.md", "") for text in texts(path)}  # names of files may end so
            found = {text for text, output in plain.items() if "runbook" in output or "rd goto" in output}
            assert found <= OF_RUNBOOKS, shown(path)


def test_grammars_are_those_of_the_formats() -> None:
    """A format whose syntax is that of YAML or JSON has none. Rules have one in all formats."""
    files = [path.name for path in (ROOT / "grammars").iterdir() if path.suffix == ".lark"]
    assert sorted(files) == sorted(["rule.lark", *(file for form in FRONT_ENDS.values() for file in form.grammars)])


def test_options_of_formats_are_told_apart() -> None:
    """An option has one meaning in the configuration, wherever it comes from, and on the command line."""
    every = [option for form in FRONT_ENDS.values() for option in form.options]
    assert set(every) == set(all_options()), "formats that share an option share its declaration"
    assert not {option.name for option in every} & set(BACKENDS)
    for name in COMMANDS:
        flags = [flag for parameter in load_command(name).params for flag in parameter.opts]
        assert len(flags) == len(set(flags)), name


def test_the_list_of_commands_says_what_their_help_says() -> None:
    assert {name: load_command(name).get_short_help_str(limit=1000) for name in COMMANDS} == COMMANDS
    files = (ROOT / "rdc" / "commands").glob("*.py")
    modules = {path.stem.rstrip("_") for path in files if "\n@click.command(" in path.read_text("utf-8")}
    assert modules == {name.replace("-", "_") for name in COMMANDS if name not in OF_RUN}


def test_backends_and_their_folders_are_the_same() -> None:
    shared = {"common", "options", "picture", "scheduling"}
    assert packages(ROOT / "backends") - shared == set(BACKENDS), "what targets share is no target"


PAGES = {"dot": "targets/pictures.md", "mermaid": "targets/pictures.md", "json": "formats/json.md"}
"""Pages of targets that share one."""


@pytest.mark.parametrize("name", BACKENDS)
def test_backend_has_all_that_belongs_to_it(name: str) -> None:
    backend = load(name)
    assert backend.name == name
    assert type(backend).__module__ == f"backends.{name}"
    assert has_tests(name)
    page = ROOT / "docs" / PAGES.get(name, f"targets/{name}.md")
    assert page.is_file(), f"there is no {shown(page)}"
    assert any(path.as_posix().endswith(backend.suffix) for path in (ROOT / "golden").rglob("*"))
    assert name in CHECKS, "tests/support/outputs.py has no check of its outputs"


def test_every_feature_has_words_and_a_target() -> None:
    assert set(IN_WORDS) == set(Feature) == {feature for name in BACKENDS for feature in load(name).features}


def test_passes_and_their_modules_are_the_same() -> None:
    modules = {path.stem for path in (ROOT / "compiler" / "passes").glob("*.py")} - {"__init__"}
    assert modules == {name.replace("-", "_") for name in PASSES}
    for name, run in PASSES.items():
        module = import_module(f"compiler.passes.{name.replace('-', '_')}")
        assert run is getattr(module, name.replace("-", "_"))


KINDS = {kind.__name__ for union in (Task, Test, Effect) for kind in get_args(union)}


def kinds_matched(match: ast.Match) -> set[str]:
    """The kinds of tasks, tests and effects that the cases of a match are for."""
    whole = [case.pattern for case in match.cases]
    patterns = [part for one in whole for part in (one.patterns if isinstance(one, ast.MatchOr) else [one])]
    return {part.cls.id for part in patterns if isinstance(part, ast.MatchClass) and isinstance(part.cls, ast.Name)}


def test_every_match_over_the_ir_is_exhaustive() -> None:
    """A kind that is new is found by the type checker, never dropped."""
    found = 0
    for path in MODULES:
        for match in (node for node in nodes(path) if isinstance(node, ast.Match)):
            if kinds_matched(match) & KINDS:
                found += 1
                last = ast.unparse(match.cases[-1])
                assert last.startswith("case _:\n    assert_never("), f"{shown(path)}:{match.lineno}"
    assert found > 15


READERS = {"yaml": "compiler/reading/yaml.py", "tomllib": "compiler/reading/toml.py", "tomlkit": "rdc/build/pins.py"}
"""The only modules that read or write a syntax with a library of their own, so that a text has one meaning."""


def test_each_syntax_has_one_reader() -> None:
    """The runtime cannot ask the compiler; modules outside of both read only what rdc has written as JSON."""
    ours = [path for path in MODULES if not path.is_relative_to(ROOT / "runtime_shim")]
    for library, reader in READERS.items():
        found = {shown(path) for path in ours for module, _ in imports(path) if module.split(".")[0] == library}
        assert found == {reader}
    reading = re.compile(r"\bjson\.(loads?|decode|JSONDecoder)\(")
    modules = (path for path in MODULES if path.is_relative_to(ROOT / "compiler"))
    found = {shown(path) for path in modules if reading.search(path.read_text(encoding="utf-8"))}
    assert found - OF_VALUES == {"compiler/reading/json.py"}


OF_VALUES = {
    *("compiler/frontends/playbook/check/rules.py", "compiler/frontends/playbook/lower/nodes.py"),
    *("compiler/importers/just_dump.py", "compiler/ir/serialize.py", "compiler/ir/verify_tasks.py"),
}
"""Modules that read values inside documents or the output of just, which need no places."""


OTHERS = {"compiler/frontends/json/syntax.py: Problem", "backends/python/verify.py: Problem"}
"""A code with a position in a program as JSON, and a difference of generated text."""


def test_what_is_wrong_in_data_is_an_issue() -> None:
    """Documents, options and the configuration have one class for it, and one function makes diagnostics of it."""
    named = re.compile(r"_?(Flaw|Problems?|Wrong)")
    classes = {
        f"{shown(path)}: {node.name}"
        for path in MODULES
        for node in nodes(path)
        if isinstance(node, ast.ClassDef) and (node.name == "Issue" or named.fullmatch(node.name))
    }
    assert classes - OTHERS == {"compiler/diagnostics/model.py: Issue"}
    makers = {
        f"{shown(path)}: {function.name}"
        for path in MODULES
        if "from compiler.diagnostics.model import" in path.read_text(encoding="utf-8")
        for function in functions(path)
        if "Diagnostic" in ast.unparse(function.returns or ast.Constant(None))
        and "Iterable[Issue]" in ast.unparse(function.args)
    }
    assert makers == {"compiler/diagnostics/issues.py: diagnostics"}


def test_codes_and_their_pages_are_the_same() -> None:
    pages = {path.stem for path in (ROOT / "compiler" / "diagnostics" / "explanations").iterdir()}
    assert pages == set(CODES)


def test_every_code_is_in_the_documentation() -> None:
    page = (ROOT / "docs" / "reference" / "diagnostics.md").read_text(encoding="utf-8")
    assert not [code for code, known in CODES.items() if code not in page or known.name not in page]


def test_every_code_is_raised_somewhere() -> None:
    paths = (path for path in MODULES if path != ROOT / "compiler" / "diagnostics" / "model.py")
    assert set(CODES) - {text for path in paths for text in strings(path)} == set()
    names = [code.name for code in CODES.values()]
    assert len(names) == len(set(names))
    assert all(name.replace("-", "").isalnum() and name == name.lower() for name in names)
    assert list(CODES) == sorted(CODES)


def test_one_module_answers_in_mock_runs_and_in_tests_of_scenarios_and_no_edition_has_mocks() -> None:
    """`rdc run --mock` and `rdc test` call `rdc mock`, by the command that one function makes; no program mocks.

    Operators' parts only know who decides.
    """
    texts = {shown(path): path.read_text(encoding="utf-8") for path in (ROOT / "rdc").rglob("*.py")}
    calling = {path for path, text in texts.items() if "mock_command(" in text}
    assert calling == {"rdc/calls/mock.py", "rdc/calls/mock_option.py", "rdc/testing/tester.py"}
    assert [path for path, text in texts.items() if "def read_mocks(" in text] == ["rdc/calls/mock.py"]
    operators = (path.read_text(encoding="utf-8") for path in (ROOT / "runtime_shim" / "operator").glob("*.py"))
    known = {line for text in operators for line in text.splitlines()}
    for name in EDITIONS:
        assert {line for line in runtime(name).splitlines() if "mock" in line.lower()} <= known, name
