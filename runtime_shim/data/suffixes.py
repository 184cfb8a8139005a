"""What the name of the file ends with that a run leaves, by its type (I28)."""

SUFFIXES = {
    "markdown": "md",
    "json": "json",
    "mermaid": "mmd",
    "chartjs": "json",
    "html_css": "html",
    "javascript": "js",
    "typescript": "ts",
}
OTHER = "txt"
