"""An independent yardstick for runbooks: a model, its text, a naive interpreter of the rules, and all drivers."""
