"""The words that can follow `rdc run FILE`: subcommands, options, steps, and the replies of the waiting step."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import pairwise, takewhile

from runtime_shim.cli.command_line import COMMANDS, OPTIONS, options_of
from runtime_shim.editions import kinds_of
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Kinds
from runtime_shim.engine.state import OURS, State, Store


def suggestions(program: Table, more: Kinds, words: Sequence[str], typed: str, home: str) -> list[str] | None:
    """Return the words that can follow and start like the last one; None if it is the path of a file.

    `words` are those before it, and `home` is the folder of the state directories' parent.
    """
    kinds = kinds_of(program, more)
    verb, *rest = words if words and words[0][:1] != "-" else ["run", *words]
    options = (*OPTIONS, *(option for kind in kinds for option in kind.options))
    own = {name: takes for _, name, takes, _ in options_of(verb, options)}
    if "--resume" in rest:
        own |= {name: takes for _, name, takes, _ in options_of("resume", options)}
    takes = own.get(rest[-1], "") if rest else ""
    if takes.rstrip(".") in ("FILE", "DIR"):
        return None
    if rest and rest[-1][:2] == "--" and takes:
        found: Iterable[str] = _values(rest[-1], program, _state(program, kinds, rest, home), kinds)
    elif typed[:1] == "-":
        found = (name for name in own if name[0] == "-" and (name not in rest or "..." in own[name]))
    elif not words:
        found = {**COMMANDS, **{name: each for kind in kinds for name, each in kind.commands.items()}}
    else:
        places = [name for name in own if name[0] != "-"]
        given = len([*takewhile(lambda word: word[:2] != "--", rest)])
        place = (places[given:] or [name for name in places if "..." in own[name]])[:1]
        found = _values(f"{verb} {''.join(place)}", program, _state(program, kinds, rest, home), kinds)
    return sorted({word for word in found if word.startswith(typed)})


def _state(program: Table, kinds: Kinds, rest: Sequence[str], home: str) -> State | None:
    """Return the state of the run that the options choose, if it can be read."""
    given = dict(pairwise(rest))
    label = f"@{given['--as']}" if "--as" in given else ""
    directory = given.get("--state-dir") or os.path.join(home, OURS, f"{program['name']}{label}")
    with suppress(UsageError, OSError, IndexError):
        return Store(directory, ["", *(kind.mode for kind in kinds)]).read()
    return None


def _values(place: str, program: Table, state: State | None, kinds: Kinds) -> Iterable[str]:
    """Return the values of an option or an argument, such as `answer STEP`."""
    nodes = program["nodes"]
    steps = [name for name, node in nodes.items() if node["task"] not in ("branch", "end")]
    if place in ("goto STEP", "step PLACE", "--break"):
        return [*steps, *program.get("jumps", {}).get("to", ())]
    if place == "--assume":
        return nodes[state.node].get("words", ("pass", "fail")) if state and state.node in nodes else ()
    if place not in ("answer STEP", "answer REPLY", "--gate") or state is None or state.condition != "waiting":
        return ()
    node = nodes.get(state.node, {"task": ""})
    kind = {task: each for one in kinds for task, each in one.performers.items()}.get(node["task"])
    known = () if kind is None else kind.replies(node) if place == "answer REPLY" else kind.names(state.node, node)
    return [word for word in known if word != "-"]
