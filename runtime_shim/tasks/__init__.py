"""The kinds of tasks that steps have, and how their processes run."""
