"""The functions a specification calls: gates and stages follow from the facts of a step."""

import os
import re
import sys
from typing import Any

from runtime_shim.engine.program import Table, unframed

NO_FACTS: Table = {"phase": "", "inputs": {}, "outputs": [], "templates": [], "tools": [], "validation": ""}
STEP_FACTS: Table = {"description": "", **NO_FACTS, "evidence": "none", "human_gate": "optional"}
CALL = {"name": "", "args": {}, "required": False, "risk": "low"}
KEYS_OF_STAGES = {"gate": "human_gate", "context": "inputs", "tool": "tools", "guardrails": "outputs"}
LANGUAGES = {".py": "Python", ".pyi": "Python", ".yaml": "YAML", ".yml": "YAML", ".json": "JSON"}
CHECK_WORDS = (
    ("parses", r"\b(?:format|template|schema)"),
    ("ast", r"\bast\b"),
    ("types", r"\b(?:types?\b|typing|type-?check|mypy)"),
    ("lint", r"\b(?:lint|ruff)"),
)


def checks_of(policy: str) -> list[str]:
    """Return the checks of a validation policy: `exists`, and those that it names."""
    return ["exists", *(check for check, words in CHECK_WORDS if re.search(words, policy, re.IGNORECASE))]


def language_of(path: str) -> str:
    """Return the language of a file with checks, or ""."""
    return LANGUAGES.get(os.path.splitext(path)[1].lower(), "")


def installed(name: str) -> "str | None":
    """Return the path of a program, which may be beside this Python."""
    import shutil

    return shutil.which(name) or shutil.which(name, path=os.path.dirname(sys.executable))


def template_of(written: str) -> str:
    """Return the path of a template; one without a placeholder is in the template folder."""
    path = written.removeprefix("template:")
    return path if path == written or path.startswith("{") else f"{{template_folder}}/{path}"


def strings(value: object) -> list[str]:
    """Return the strings of a list."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def paths_needed(inputs: Table, templates: list[str], said: "list[str] | None" = None) -> list[str]:
    """Return the paths a step needs: its artifacts, unless `said` lists others, and its templates."""
    needs = strings(inputs.get("artifacts")) if said is None else said
    return list(dict.fromkeys([*needs, *map(template_of, templates)]))


class StepBuilder:
    """The functions a specification calls. The last stage of a step leads to the next call."""

    def __init__(self) -> None:
        self.table: Table = {"registers": {}, "nodes": {}}
        self.stepspec: Table = {}
        self.marks: Table = {}
        self.leaving: list[Table] = []  # the transitions to the next call

    def about(self, title: str, variables: Any = (), secrets: Any = (), workflow: Any = (), **more: Any) -> None:
        """Describe the workflow. `variables` are the placeholders with their defaults, `more` is the configuration."""
        defaults = dict(variables)
        own = ("name", "source", "project", "logs", "notify")
        self.table.update({key: more.pop(key) for key in own if key in more}, title=title)
        found = {"secrets": secrets, "inputs": inputs_of(defaults)}
        self.table.update({key: value for key, value in found.items() if value}, registers=dict.fromkeys(defaults))
        self.marks = {f"{{{name}}}": [name, "", "", ""] for name in defaults}
        config = {"config": {key: unframed(value) for key, value in more.items()}} if more else {}
        self.table["stepspec"] = self.stepspec = {"workflow": dict(workflow), **config, "steps": {}}

    def end(self, name: str, result: str, message: str = "") -> None:
        """Add an end, which the step before leads to."""
        self._arrive(name)
        self.table["nodes"][name] = {"title": "", "task": "end", "result": result, "message": message, "edges": []}

    def step(self, name: str, title: str = "", at: int = 0, lines: Any = None, **said: Any) -> None:
        """Add a step. `lines` are the line numbers of parts that differ from the step's."""
        said = {key: unframed(value) for key, value in said.items()}
        spec = self.stepspec["steps"][name] = self._spec(name, title, said)
        self._mark(self.stepspec, spec)
        common = {"step": name, **self._group(name, title, spec["description"])}
        gates, stages = self._gates(name, title, spec, said.get("gate", "")), self._stages(name, title, spec, said)
        parts, first, edges = {**gates, **stages}, next(iter(stages)), []
        if spec["retries"]["max"]:
            self._count(name, stages, spec["retries"]["backoff_seconds"])
        self._arrive(next(iter(parts)))
        for part, then in zip(parts, [*parts, ""][1:]):
            node = {**parts[part], **common}
            node["edges"] = edges = self._edges(name, node, then, first)
            self._add(part, node, at, lines or {})
        if gates:
            self.end(f"{name}/rejected", "stop", f"step {name} was rejected")
        self.end(f"{name}/failed", "stop", f"step {name} failed")
        self.leaving = [one for one in edges if "go" not in one]

    def _group(self, name: str, title: str, description: str) -> Table:
        if not description:
            return {}
        self.table.setdefault("groups", {})[name] = self._mark({"title": title, "prompt": description}, description)
        return {"group": name}

    def _count(self, name: str, stages: Table, pause: int) -> None:
        counter = f"{name} retries"
        self.table["registers"][counter] = 0
        self.table.setdefault("scopes", {})[name] = [counter]
        for stage in stages.values():
            stage["attempt"] = counter
        if pause:
            next(iter(stages.values())).update(delay=pause, backoff=1)

    def _arrive(self, name: str) -> None:
        for one in self.leaving:
            one["go"] = name
        self.leaving = []

    def _mark(self, item: Table, texts: object) -> Table:
        found = {mark: place for mark, place in self.marks.items() if mark in str(texts)}
        if found:
            item["placeholders"] = {**item.get("placeholders", {}), **found}
        return item

    def _spec(self, name: str, title: str, facts: Table) -> Table:
        """Return the specification of a step with all fields."""
        inputs = {"artifacts": facts["needs"]} if facts.get("needs") else {}
        phase = self.stepspec["workflow"].get("phase") or ""
        implied = {"phase": phase, "inputs": inputs, "outputs": facts.get("makes", [])}
        said = {**STEP_FACTS, **implied, **facts}
        calls = [{**CALL, **call} for call in said["tools"]]
        said["tools"] = [{key: value for key, value in call.items() if key != "as"} for call in calls]
        retries = {"max": facts.get("retries", 0), "backoff_seconds": facts.get("pause", 0)}
        return {"id": name, "name": title or name, **{key: said[key] for key in STEP_FACTS}, "retries": retries}

    def _gates(self, name: str, title: str, spec: Table, reason: str) -> Table:
        """Return the gates of a step: its own and those of its tools, each only once."""
        about = self.stepspec["workflow"]
        found = {f"{about['module']}:{about['workflow']}:{name}:hitl": reason} if reason else {}
        for call in spec["tools"]:
            risk = " has high risk" if call["risk"] == "high" else ""
            if "gate" in call:
                found.setdefault(call["gate"], f"the tool {call['name']}{risk and risk + ', and'} names this gate")
            elif risk:
                found.setdefault(f"tool:{call['name']}:{name}", f"the tool {call['name']}{risk}")
        fixed = {"title": title, "task": "gate", "words": ["approved", "rejected"]}
        new = {gate: why for gate, why in found.items() if gate not in self.table["nodes"]}
        return {gate: {**fixed, "gate": gate, "reason": why} for gate, why in new.items()}

    def _stages(self, name: str, title: str, spec: Table, said: Table) -> Table:
        """Return the stages that a step needs, in order. A call whose name is taken sets its stage (`as`)."""
        config, inputs = self.stepspec.get("config", {}), spec["inputs"]
        guards, found = config.get("guardrails", {}), {}

        def add(id_: str, kind: str, title: str = "", **facts: Any) -> None:
            given = {key: value for key, value in facts.items() if value or key == "place"}
            found[id_] = {"title": title or kind, "task": "stage", "stage": kind, **given}

        needed = paths_needed(inputs, spec["templates"], said.get("needs"))
        checked = list(dict.fromkeys([*strings(inputs.get("validation_targets")), *spec["outputs"]]))
        level = "" if spec["evidence"] == "none" else spec["evidence"]
        if needed or "input" in guards:
            add(f"{name}/inputs", "inputs", paths=needed)
        if "context" in config:
            add(f"{name}/context", "context")
        for place, call in enumerate(said.get("tools", ())):
            called = call["name"]
            add(f"{name}/{call.get('as', called)}", "tool", called, place=place, subject=called)
        add(name, "execute")
        found[name]["title"] = title
        if "output" in guards:
            add(f"{name}/guardrails", "guardrails")
        if checked or spec["validation"]:
            add(f"{name}/validation", "validation", paths=checked, checks=checks_of(spec["validation"]))
        if spec["outputs"] or level:
            add(f"{name}/outputs", "outputs", paths=list(dict.fromkeys(spec["outputs"])), subject=level)
        return found

    def _edges(self, name: str, node: Table, then: str, first: str) -> list[Table]:
        """Return the transitions of a part. A failure leads to the next attempt or STOP; "" is the next call."""
        if node["task"] == "gate":
            return [edge("approved", then), edge("rejected", f"{name}/rejected")]
        spec = self.stepspec["steps"][name]
        if node["stage"] == "tool" and not spec["tools"][node["place"]]["required"]:
            return [edge("", then)]
        reset, tries = [["reset", name]] if "attempt" in node else [], spec["retries"]["max"]
        found = [edge("pass", then, do=[] if then else reset)]
        if tries and node["stage"] != "inputs":
            found.append(edge("fail", first, [[node["attempt"], "<", tries]], [[node["attempt"], "+", 1]]))
        return [*found, edge("fail", f"{name}/failed", do=reset)]

    def _add(self, name: str, node: Table, at: int, lines: Table) -> None:
        kind: str = node.get("stage", "gate")
        line = lines.get(KEYS_OF_STAGES.get(kind, kind), at)
        line = line[node["place"]] if isinstance(line, list) else line
        self.table.setdefault("entry", name)
        self.table["nodes"][name] = self._mark({**node, "at": f"{self.table['source']}:{line}"}, node.get("paths"))


def inputs_of(defaults: Table) -> list[Table]:
    """Return the inputs for placeholders."""
    fixed = {"type": "string", "required": True}
    given = {name: {} if value is None else {"default": value} for name, value in defaults.items()}
    return [{"name": name, **fixed, "description": f"Placeholder {{{name}}}", **more} for name, more in given.items()]


def edge(on: str, go: str, when: Any = (), do: Any = ()) -> Table:  # lists of conditions and effects
    """Return a transition."""
    said = {"on": on, "if": when, "do": do, "go": go}
    return {**{key: value for key, value in said.items() if value}, "says": ""}
