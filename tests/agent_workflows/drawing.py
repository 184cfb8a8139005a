"""Random agent workflows, with the task of a run and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence

from tests.agent_workflows.model import Flow, Report, Step, Told
from tests.agent_workflows.oracle import keywords_of
from tests.equivalence.chance import Chance
from tests.programs.cases import Json
from tests.support.hostile_texts import LINES, NASTY

NAMES = ("plan", "review", "build.it", "a-b_c", "Fix", "COMPLETE", "x1")
AGENTS = ("", "", "planner", "the coder", "jdi:review")
KEYWORDS = ("APPROVED", "REJECTED", "NEEDS WORK", "ok", "CHANGES_REQUESTED", "Готово", "C++")
EXITS = (0,) * 20 + (1,)
SAFE = tuple(line for line in LINES if line == line.strip())
TITLES = tuple(line for line in SAFE if line.isprintable() and len(line) < 100)


class Drawing(Chance):
    """One random workflow after its seed."""

    def told(self) -> Told:
        """The workflow, task and replies."""
        names = self._some(NAMES, 1, 5)
        steps = tuple(self._step(name, names, place) for place, name in enumerate(names))
        description = self._pick((None, "What to do", "two\nlines\n", self._pick(SAFE)))
        max_steps = self._pick((None, None, None, None, 0, 3, 12))
        flow = Flow(steps, self._pick(TITLES), description, max_steps)
        task = self._pick((None, "The task", self._pick(NASTY)))
        return Told(flow, task, {node: replies for step in steps for node, replies in self._replies(step)})

    # --- Parts --------------------------------------------------------------------------------------------------------

    def _text(self) -> str:
        """Several lines that begin and end with a word."""
        parts = ["Do it."]
        for _ in range(self._number(0, 4)):
            parts += [self._pick(("\n", " ", "\n\n")), self._pick(SAFE)]
        return "".join(parts) + self._pick(("\nend", " end"))

    def _step(self, name: str, names: Sequence[str], place: int) -> Step:
        is_last = place == len(names) - 1
        words = self._some(KEYWORDS, 0, 3)
        conditions = tuple((word, self._pick(names)) for word in words)
        entries: tuple[tuple[str, str], ...] = ()
        if self._rarely(3):
            entries = tuple((self._pick(AGENTS[2:]), self._text()) for _ in range(self._number(1, 3)))
        follower = "" if is_last else names[place + 1]
        return Step(
            name,
            self._text(),
            self._pick(AGENTS),
            entries,
            self._pick(("all", "any")),
            self._report(f"report-{place}", words) if self._flag() else None,
            human=self._rarely(6),
            next=self._pick((follower, follower, "", self._pick(names))) if not is_last else "",
            end=is_last and not self._rarely(4),
            conditions=conditions,
        )

    def _report(self, name: str, words: Sequence[str]) -> Report:
        form = self._pick(("## Report", "## One\n- two", self._pick(SAFE)))
        both = [word for word in (*words, self._pick(KEYWORDS[:2])) if word != "C++"] or ["ok"]
        if self._rarely(3):
            return Report(name, form)
        joined = "|".join(dict.fromkeys(both))
        patterns: tuple[tuple[str, tuple[str, ...] | None], ...] = (
            (joined, tuple(both)),
            (f"({joined})", tuple(both)),
            (f"^(?:{joined})?", tuple(both)),
            (rf"Verdict:\s*({joined})", tuple(both)),
            (f"Verdict: (?:{joined})", tuple(f"Verdict: {word}" for word in both)),
            (r"\w", None),
            (".*", None),
        )
        pattern, phrases = self._pick(patterns)
        return Report(name, form, pattern, phrases)

    # --- What comes of it ---------------------------------------------------------------------------------------------

    def _replies(self, step: Step) -> list[tuple[str, list[Json]]]:
        found: list[tuple[str, list[Json]]] = []
        if step.human:
            found.append((f"{step.name}/human", [{"reply": not self._rarely(6)} for _ in range(2)]))
        replies: list[Json] = []
        for _ in range(self._number(1, 3)):
            if step.entries:
                replies.append({"entries": [self._answer(step) for _ in step.entries]})
            else:
                replies.append(self._answer(step))
        return [*found, (step.name, replies)]

    def _answer(self, step: Step) -> Json:
        words = [word for word in keywords_of(step) if word != "TASK_DONE"] or ["ok"]
        words += ["TASK_DONE"] if self._rarely(5) else []
        lines = [self._pick((self._pick(words), self._pick(NASTY), "x")) for _ in range(self._number(0, 2))]
        last = self._pick(words)
        forms = (last, f"**{last}**", last.lower(), f"{last}_not", f"not{last}", f"Verdict: {last}", f"I say {last}.")
        quoted = (f"> {last}", f"```\n{last}\n```", f"<!-- {last} -->", f"not yet: {last}")
        more = (f"## {last}", f"{last}: because", f"\n{last}", *quoted, f"{last} or {self._pick(words)}")
        lines.append(self._pick((last, last, last, last, *forms, *more)))
        said = "\n".join(lines) + self._pick(("", "\n", " \n", "\r\n"))
        return {"exit": self._pick(EXITS), "answer": "" if self._rarely(40) else said}


def random_told(seed: int) -> Told:
    """The workflow of a seed."""
    return Drawing(seed).told()
