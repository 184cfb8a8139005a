"""The kinds of tasks that steps have, one module each, and how processes run."""
