"""`rdc init`: the first files of a project.

`files` chooses them without reading or writing anything. `folder` compares them with the existing files.
"""
