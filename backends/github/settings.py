"""What the option `units` says of units (E3): their secrets and environments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property

from backends.base import OptionFinding
from backends.github.options import GithubOptions, UnitSettings
from backends.github.scalar import Expression
from compiler.diagnostic import Diagnostic
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Ask, Branch, End

ALL = "*"


def settings_of(program: Program, node: Node, options: GithubOptions) -> Iterator[UnitSettings]:
    """What is said of a unit: of itself, of the steps and runbooks around it, and of all units, in this order."""
    parents = {group.id: group.parent for group in program.groups}
    names, group = [node.id], node.group
    while group:
        names.append(group)
        group = parents[group]
    return (options.units[name] for name in (*names, ALL) if name in options.units)


def environments_of(program: Program, options: GithubOptions) -> dict[str, str]:
    """The environments of units, by their ids."""
    found: dict[str, str] = {}
    for node in program.nodes:
        if isinstance(node.task, (Branch, End)) or not options.units:
            continue
        named = [said.environment for said in settings_of(program, node, options) if said.environment]
        found |= {node.id: named[0]} if named else {}
    return found


class UnitSecrets:
    """The secrets of units, as expressions by their variables. Where `units` names none, each unit gets all."""

    def __init__(self, program: Program, options: GithubOptions) -> None:
        self._program = program
        self._options = options

    @cached_property
    def all(self) -> Mapping[str, str]:
        """Those of all units."""
        found = self._options.all_secrets().items()
        return {name: Expression(f"${{{{ secrets.{secret} }}}}") for name, secret in found}

    def of(self, *nodes: Node) -> dict[str, str]:
        """Those that some units get. A unit that people answer gets none."""
        wanted = {name for node in nodes for name in self._names(node)}
        return {name: value for name, value in self.all.items() if name in wanted}

    def _names(self, node: Node) -> Iterable[str]:
        if isinstance(node.task, (Branch, End)):
            return ()
        if isinstance(node.task, Ask):
            return self._options.of_agent("")[1] if self._options.prompts == "agent" else ()
        return secrets_of(self._program, node, self._options)


def secrets_of(program: Program, node: Node, options: GithubOptions) -> list[str]:
    """The names of the secrets that a command gets."""
    if not any(said.secrets is not None for said in options.units.values()):
        return list(options.secret_names())
    return [name for said in settings_of(program, node, options) for name in said.secrets or ()]


def unknown_units(program: Program, options: GithubOptions) -> Iterator[Diagnostic]:
    """Units of the option that the document does not have."""
    known = [*(node.id for node in program.nodes if not isinstance(node.task, (Branch, End)))]
    known += [group.id for group in program.groups]
    for name in options.units:
        if name != ALL and name not in known:
            close = get_close_matches(name, known, 1)
            hint = f"; did you mean `{close[0]}`?" if close else ""
            problem = f"`units` names {name}, and the document has no such unit{hint}"
            remedy = "write the id of a unit or step, or `*` for all"
            path = program.sources[0].path
            yield OptionFinding("RD013", path, None, problem, remedy, option=("units", name))
