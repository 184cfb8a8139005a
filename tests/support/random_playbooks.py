"""Random playbooks in which the specification and its reference parser agree on everything."""

import random
from collections.abc import Iterator

NAMES = ("kind", "text_1", "B", "result")
WORDS = (
    "Do it.",
    "  - an item",
    "| a | b |",
    "",
    "",
    "### A part",
    "# Not a title",
    "````",
    "```python",
    "x = {{kind}}",
)
ODD = ("@output", "@unknown(a)", "```if", "``` else ```", "### STEP x: y", "type: json", "- `x` (text)", "@output(a b)")
ARTIFACTS = ("json", "Markdown", "unknown", "html_css")


class Random:
    """A random playbook in which the specification and its reference parser agree on everything."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.number = 0

    def lines(self) -> Iterator[str]:
        """Title, description, sections in any order."""
        yield from self.some(("", "Before"), 2)
        yield from ("#  A title", *self.some((*WORDS[:6], "More."), 4))
        others = [section() for section in (self.system, self.inputs, self.artifacts, self.unknown) if self.chance()]
        sections = [*others, *[self.step() for _ in range(self.draw.randint(1, 4))]]
        order = sorted(range(len(sections)), key=lambda place: place if self.chance(3) else self.draw.random() * 9)
        yield from (line for place in order for line in ("", *sections[place]))

    def some(self, lines: tuple[str, ...], most: int) -> list[str]:
        return self.draw.choices(lines, k=self.draw.randint(0, most))

    def chance(self, of: int = 2) -> bool:
        return self.draw.randrange(of) == 0

    def system(self) -> list[str]:
        return ["## " + self.draw.choice(("SYSTEM", "system  prompt", "System ")), *self.some(WORDS + ODD, 4)]

    def inputs(self) -> list[str]:
        written = ("text", "Number: 5", "odd: x, y", "enum: a, b,", "CHOICE:a", "bool", "string: a: b")
        names = self.draw.sample(NAMES, self.draw.randint(0, len(NAMES)))
        ends = ("", ": About", ":   it ")
        listed = [f"-  `{name}` ({self.draw.choice(written)}){self.draw.choice(ends)}" for name in names]
        return ["## Inputs", *listed, *self.some(("- bad", "* bad", "text", "", "-`x` (text)"), 3)]

    def artifacts(self) -> list[str]:
        return ["## ARTIFACTS", *self.some(("", "About"), 1), f"type:  {self.draw.choice(ARTIFACTS)}"]

    def unknown(self) -> list[str]:
        return ["## " + self.draw.choice(("Notes", "Steps: No", "STEP: x", "STEPS")), *self.some(WORDS + ODD, 3)]

    def step(self) -> list[str]:
        self.number += self.draw.choice((1, 1, 1, 0, 2))
        body = self.body()
        if self.chance():
            body += self.branches()
        return [
            f"## STEP  {self.number}:  Step {self.number} ",
            *body,
            *(self.some(WORDS, 3) if self.chance(4) else []),
        ]

    def body(self) -> list[str]:
        directives = (
            f"@output({self.draw.choice(('kind', 'result', 'later'))})",
            '  @output(later, extract:"field")',
            '@elicit(confirm, "Really?")',
            '@elicit(Select, "Which?", "a, b", "c")',
            "@prompt(library:some-id-1)",
            '@tool(server, "a tool", {"a": "{{kind}}, {", "b": [1, 2]})',
            "@tool(server, t)",
        )
        given = self.some(directives, 2)
        if sum("@output" in line for line in given) > 1:  # the reference mixes two of them
            given.pop()
        return [*self.some(WORDS, 4), *given, *self.some(WORDS + ODD[:4], 3)]

    def branches(self) -> list[str]:
        found = [f'```if {self.draw.choice(NAMES)} == "a"```', *self.branch()]
        for _ in range(self.draw.randint(0, 2)):
            found += [f'  ```elif {self.draw.choice(NAMES)}!="b c" ```', *self.branch()]
        return [*found, *(["```else```", *self.branch()] if self.chance() else []), "```endif```"]

    def branch(self) -> list[str]:
        if self.chance(3):
            return ["Only text.", ""]
        letters = "abc"[: self.draw.randint(1, 3)]
        return [line for one in letters for line in (f"### STEP {self.number}{one}: Part ", *self.body())]


def playbook(seed: int) -> str:
    """Return the playbook of a seed."""
    return "\n".join(Random(seed).lines())
