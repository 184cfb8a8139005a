"""The whole workflow: its header, its inputs and limits, and how a run goes from step to step."""
