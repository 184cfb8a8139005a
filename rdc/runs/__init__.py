"""The runs in a folder, and the processes that run them."""
