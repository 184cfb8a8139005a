"""Text: source files with their places, files on disk, durations, and suggestions for misspelled words."""
