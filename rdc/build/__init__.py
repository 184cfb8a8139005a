"""`rdc build`: compile the changed documents of a project, review what is new in them, and write all files."""
