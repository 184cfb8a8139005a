"""`rdc init`: the first files of a project."""
