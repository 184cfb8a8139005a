"""A page that shows a document's flow, and its runs while they work."""
