"""The options of the github target: triggers, secrets, environments and everything else around the steps."""
