"""Projects for the tests of `rdc build`: a configuration and documents in a folder."""

from pathlib import Path

from tests.support.cli import Result, call, document

RUNBOOK = "## 1. {}\n\n```bash\necho {}\n```\n"
GITHUB = '[[build]]\nsource = "docs/*.runbook.md"\nto = "github"\nout = ".github/workflows/{name}.yml"\n'
QUESTION = "# Ask\n\n## 1. Is it ready?\n\n- YES: CONTINUE\n- NO: STOP\n"
CALLING = f"---\nrdc: {{github: {{prompts: answers}}}}\n---\n{QUESTION}"
"""Its workflow calls the program, which asks the question."""


class Project:
    """A project in a folder, which is built in this process."""

    def __init__(self, root: Path, configuration: str = GITHUB) -> None:
        self.root = root
        (root / "docs").mkdir(parents=True)
        (root / ".git").mkdir()
        self.write("rdc.toml", configuration)

    def write(self, path: str, text: str) -> Path:
        return document(self.root, path, text)

    def runbook(self, name: str, word: str = "go") -> Path:
        return self.write(f"docs/{name}.runbook.md", RUNBOOK.format(name.title(), word))

    def build(self, *words: str, below: str = ".") -> Result:
        return call("build", *words, cwd=self.root / below)

    def text(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def workflow(self, name: str) -> Path:
        return self.root / ".github" / "workflows" / f"{name}.yml"

    def files(self) -> dict[str, bytes]:
        """All files but the documents and the cache, by their paths."""
        return {
            str(place.relative_to(self.root)): place.read_bytes()
            for place in sorted(self.root.rglob("*"))
            if place.is_file() and ".rdc_cache" not in place.parts and "docs" not in place.parts
        }


def shop(folder: Path) -> Project:
    """A project with two runbooks."""
    made = Project(folder / "shop")
    for name in ("build", "deploy"):
        made.runbook(name)
    return made
