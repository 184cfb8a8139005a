# --- The agents that people have, by name: how each takes a prompt on standard input and gives its answer.
Recipe = collections.namedtuple("Recipe", "name version command model")

RECIPES = (
    Recipe("claude-code", "2.1", "claude -p --output-format text --permission-mode dontAsk{model}", "--model"),
    Recipe("codex", "0.169", "codex exec --ephemeral --color never -s read-only{model} -", "-m"),
    Recipe("gemini", "0.61", "gemini -o text --approval-mode plan --skip-trust{model}", "-m"),
    Recipe("llm", "0.36", "llm{model}", "-m"),
    Recipe("copilot", "documentation of 2026-11", "copilot -s --no-ask-user{model}", "--model"),
    Recipe("opencode", "documentation of 2026-11", "opencode run{model}", "--model"),
    # The prompt is an argument here, of which a system takes 128 KiB at most.
    Recipe("cursor", "documentation of 2026-11", 'cursor-agent -p --output-format text{model} -- "$(cat)"', "--model"),
)
def is_recipe(agent):
    return any(recipe.name == agent.strip() for recipe in RECIPES)
def called(agent, model=''):
    recipe = next((recipe for recipe in RECIPES if recipe.name == agent.strip()), None)
    if recipe is not None:
        return recipe.command.replace("{model}", f" {recipe.model} {shlex.quote(model)}" if model else "")
    if model:
        names = ", ".join(recipe.name for recipe in RECIPES)
        raise RefusedError(f"a model needs an agent that is called by name: {names}; name it in the command instead")
    return agent

