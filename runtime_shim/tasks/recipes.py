"""Commands of common agents, by name, that take a prompt on standard input and print the answer."""

import shlex
from typing import NamedTuple

from runtime_shim.engine.program import UsageError
from runtime_shim.engine.texts import meant


class Recipe(NamedTuple):
    """A command, and the `version` it is for; `{model}` becomes the `model` option with the name of a model."""

    name: str
    version: str
    command: str
    model: str


RECIPES = (
    Recipe("claude-code", "2.1", "claude -p --output-format text --permission-mode dontAsk{model}", "--model"),
    Recipe("codex", "0.169", "codex exec --ephemeral --color never -s read-only{model} -", "-m"),
    Recipe("gemini", "0.61", "gemini -o text --approval-mode plan --skip-trust{model}", "-m"),
    Recipe("llm", "0.36", "llm{model}", "-m"),
    Recipe("copilot", "documentation of 2026-11", "copilot -s --no-ask-user{model}", "--model"),
    Recipe("opencode", "documentation of 2026-11", "opencode run{model}", "--model"),
    # The prompt is an argument, so it is limited to 128 KiB.
    Recipe("cursor", "documentation of 2026-11", 'cursor-agent -p --output-format text{model} -- "$(cat)"', "--model"),
)


def is_recipe(agent: str) -> bool:
    """Return whether an agent is a name in this table."""
    return any(recipe.name == agent.strip() for recipe in RECIPES)


def mistyped(agent: str) -> str:
    """Return `; did you mean X?` for a word that is almost a recipe's name, otherwise ""."""
    return "" if is_recipe(agent) or "/" in agent else meant(agent.strip(), (recipe.name for recipe in RECIPES), 0.85)


def called(agent: str, model: str = "") -> str:
    """Return the command of an agent: its recipe's if it is a name, otherwise itself.

    Raises UsageError if a model is given for an agent without recipe.
    """
    recipe = next((recipe for recipe in RECIPES if recipe.name == agent.strip()), None)
    if recipe is not None:
        return recipe.command.replace("{model}", f" {recipe.model} {shlex.quote(model)}" if model else "")
    if model:
        names = ", ".join(recipe.name for recipe in RECIPES)
        raise UsageError(f"--agent-model works only with {names}; put the model in the agent's command instead")
    return agent
