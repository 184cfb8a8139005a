"""The drafts that the importer makes of pages, read back."""

from msgspec import Struct

from compiler.frontends.rundown.parse.document import parse
from compiler.frontends.rundown.syntax import AnyStep, Goto, Runbook, all_steps
from compiler.importers.page import Imported, Options, import_page
from compiler.importers.report import Refusal, Report
from compiler.text.source import Source


class Draft(Struct):
    """A draft, read back."""

    text: str
    runbook: Runbook
    report: Report

    @property
    def run(self) -> list[str]:
        """The commands that rdc runs."""
        return [step.code.text.rstrip("\n") for step in self.steps if step.code and step.code.interpreter]

    @property
    def shown(self) -> list[str]:
        """The blocks that rdc shows."""
        return [step.code.text.rstrip("\n") for step in self.steps if step.code and not step.code.interpreter]

    @property
    def steps(self) -> list[AnyStep]:
        """All steps without groups."""
        return [step for step in all_steps(self.runbook) if not getattr(step, "substeps", ())]

    @property
    def titles(self) -> list[str]:
        """The titles of these steps."""
        return [step.title for step in self.steps]

    @property
    def plain_titles(self) -> list[str]:
        """The titles of these steps, without the words that make a question of an instruction."""
        return [title.removesuffix(": done?") for title in self.titles]

    def guards(self, command: str) -> list[str]:
        """The titles of the questions that skip a command."""
        number = next(at for at, step in enumerate(self.steps) if step.code and command in step.code.text)
        every = list(all_steps(self.runbook))
        lines = {step.span.line: at for at, step in enumerate(self.steps)}
        found = []
        for at, step in enumerate(self.steps[:number]):
            goto = next((one.action for one in step.transitions if one.word == "NO"), None)
            if goto is None:
                continue
            end = len(self.steps)
            if isinstance(goto, Goto):
                label = str(goto.target)
                target = next(one for one in every if self._label(one) == label)
                end = next(place for line, place in lines.items() if line >= target.span.line)
            found += [step.title] if at < number < end else []
        return found

    def _label(self, step: AnyStep) -> str:
        parent = getattr(step, "parent", None)
        return f"{step.id}" if parent is None else f"{parent}.{step.id}"


def draft(page: str, **options: object) -> Draft:
    made = import_page(Source.from_text("page.md", page), "page.md", Options(**options))  # type: ignore[arg-type]
    assert isinstance(made, Imported), made
    parsed = parse(Source.from_text("page.runbook.md", made.text))
    assert parsed.runbook
    return Draft(made.text, parsed.runbook, made.report)


def refusal(page: str) -> Refusal:
    made = import_page(Source.from_text("page.md", page), "page.md", Options())
    assert isinstance(made, Refusal), made
    return made


def block(code: str, tag: str = "bash") -> str:
    return f"```{tag}\n{code}\n```\n\n"


RUN = "# Page\n\n## Part\n\n"


def page(text: str) -> str:
    """The draft of a page with one step, which has another command first."""
    return draft(RUN + text).text
