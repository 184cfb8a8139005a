"""An independent yardstick for runbooks: a model, its text, and a naive interpreter of the rules."""
