"""Random playbooks on everything that runs them, against an oracle written from the rules P9 to P17 alone."""
