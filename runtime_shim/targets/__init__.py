"""What the languages of targets cannot say themselves: one room for each target that calls the program.

None of it is part of an edition. It stands beside the program as a text of its own, with its own hash.
"""
