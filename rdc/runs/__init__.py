"""The runs in a folder, and runs with mocks."""
