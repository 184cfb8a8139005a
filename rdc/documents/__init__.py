"""Documents: where they are, their revisions in git, and the rules of a project that match them."""
