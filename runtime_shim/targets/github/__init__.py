"""The calls of a GitHub workflow's steps around the program of the document."""
