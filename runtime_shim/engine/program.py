"""The table of a program, and the calls that build it, one for each step of the document."""

import functools
from collections.abc import Sequence
from typing import Any, Callable

Table = dict[str, Any]

EXIT_COMPLETE, EXIT_STOP, EXIT_REFUSED, EXIT_WAITING, EXIT_INTERRUPTED = 0, 1, 2, 75, 130


class UsageError(Exception):
    """An error for the operator, with exit code 2. The arguments are lines of details, then the reason."""


def takes_empty(item: Table) -> bool:
    """Return whether an input takes an empty value: a required text without a default does."""
    return bool(item["type"] == "text" and item["required"] and item.get("default") is None)


OUTCOMES = {"on_pass": "pass", "on_fail": "fail", "on_yes": "pass", "on_no": "fail", "then": None, "otherwise": None}
Pairs = list[tuple["str | None", Table]]


class Builder:
    """The functions a document calls. Of several transitions, a run takes the first whose conditions hold."""

    def __init__(self) -> None:
        self.table: Table = {"registers": {}, "nodes": {}}

    def about(self, title: str, counters: Any = (), texts: Any = (), **facts: Any) -> None:
        """Describe the program and its initial values. A text that is only named is unset."""
        texts = texts if isinstance(texts, dict) else dict.fromkeys(texts)
        self.table.update(title=title, registers={**dict(counters), **texts}, **facts)

    def group(self, name: str, **facts: str) -> None:
        """Describe a group of steps; a run shows this when it enters the group."""
        self.table.setdefault("groups", {})[name] = {key: unframed(value) for key, value in facts.items()}

    def step(self, name: str, title: str = "", at: object = "", task: str = "shell", **settings: Any) -> None:
        """Add a step."""
        self.table.setdefault("entry", name)
        node: Table = self.table["nodes"].setdefault(name, {"title": title, "task": task, "edges": []})
        node.update({"at": f"{self.table['source']}:{at}" if isinstance(at, int) else at} if at else {})
        pairs: Pairs = []
        for key, value in settings.items():
            if key in OUTCOMES:
                pairs += self._flat(OUTCOMES[key], value)
            elif key == "on":
                for word, found in value.items() if isinstance(value, dict) else value:
                    pairs += self._flat(word, found)
            elif key in ("bash", "sh"):
                node.update(shell=key, command=unframed(value))
            else:
                node[key] = unframed(value)
        if task == "ask":
            node.setdefault("question", "yes/no" if {"on_yes", "on_no"} & {*settings} else "pass/fail")
        clears = [[slot, "clear", []] for slot in node.pop("clears", ())]
        if counter := f"{name} retries" * any("times" in one for _, one in pairs):
            node["attempt"], self.table["registers"][counter] = counter, 0
        edges = [{"on": word, "go": name, **one, "do": [*clears, *one.get("do", ())]} for word, one in pairs]
        node["edges"] = [self._edge(name, counter, edge) for edge in edges]

    def _edge(self, name: str, counter: str, edge: Table) -> Table:
        """Return a transition as an edge of a step."""
        if "times" in edge:
            edge.update({"if": [[counter, "<", edge.pop("times")]], "do": [[counter, "+", 1]]})
        elif counter:  # leaving resets the attempts
            edge["do"].append([counter, "=", 0])
        if "end" in edge:
            edge["go"] = self._end(name, edge, edge.pop("end"))
        return {key: value for key, value in edge.items() if value or key == "says"}

    def end(self, name: str, result: str, message: str = "", **settings: Any) -> None:
        """Add an end that several steps share, or one that continues elsewhere."""
        self.step(name, task="end", result=result, **settings)
        self.table["nodes"][name]["message"] = message

    def go(self, go: str, says: str = "", when: Any = (), do: Any = (), keeps: Any = (), **more: Any) -> Table:
        """Return a transition to a step. `says` quotes the document; `keeps` stores the answer or fields of it.

        Words after the field, which may be None, are the expected answers. `settles` in `more` are the outcomes of
        steps around this one that the transition decides.
        """
        lists = [[one] if isinstance(one, str) else one for one in keeps]
        kept = [[one[0], "keep", ["answer" if one[1:2] in ([], [None]) else "field", *one[1:]]] for one in lists]
        return {"go": go, "if": when, "do": [*do, *kept], "says": says, **more}

    def complete(self, message: str = "", says: Any = None, when: Any = (), do: Any = (), **more: Any) -> Table:
        """Return a transition to a COMPLETE end."""
        return {**self.go("", says, when, do), "end": {"result": "complete", "message": message, **more}}

    def stop(self, message: str = "", says: Any = None, when: Any = (), do: Any = (), **more: Any) -> Table:
        """Return a transition to a STOP end."""
        return {**self.go("", says, when, do), "end": {"result": "stop", "message": message, **more}}

    def retry(self, times: int, says: str = "", then: Any = ()) -> list[Any]:
        """Return transitions that retry the step some times, then continue with `then`."""
        return [{"times": times, "says": says or f"RETRY {times}"}, then]

    def _flat(self, word: "str | None", said: Any) -> Pairs:  # transitions, nested as they come
        return [(word, said)] if isinstance(said, dict) else [pair for one in said for pair in self._flat(word, one)]

    def _end(self, name: str, edge: Table, end: Table) -> str:
        nodes, word = self.table["nodes"], end["result"].upper()
        if edge["says"] is None:
            edge["says"] = "" if "to" in end else word
        more = (f"{name}/{word}~{number}" for number in range(2, len(nodes) + 2))
        name = end.pop("to", None) or next(free for free in (f"{name}/{word}", *more) if free not in nodes)
        nodes[name] = {"title": "", "task": "end", **end, "edges": []}
        return name


def built(document: Callable[..., None], extensions: Sequence[Any]) -> Table:
    """Return a document's table from the first builder that knows all its words, or the common one."""
    words = document.__code__.co_varnames[: document.__code__.co_argcount]
    makers = [extension.builder for extension in extensions if extension.builder]
    builder = next((make for make in makers if all(hasattr(make, word) for word in words)), Builder)()
    document(*functions(builder, words))
    for extension in extensions:
        extension.complete(builder.table)
    return builder.table


def functions(builder: Any, words: Sequence[str]) -> list[Callable[..., Any]]:
    """Return the functions that a document calls. Other words are kinds of tasks."""
    return [getattr(builder, word, None) or functools.partial(builder.step, task=word) for word in words]


def unframed(value: Any) -> Any:  # a setting
    """Strip the first and last newline of a text that starts with a newline."""
    return value[1:-1] if isinstance(value, str) and value.startswith("\n") else value
