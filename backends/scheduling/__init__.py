"""Divides a program into steps and jobs that run at most once, in order, for any target.

`places` are nodes that form one step: a single node, or a loop. `flow` and `plan` compute the `condition` of each step,
from the outcomes of earlier steps. `jobs` follows the paths from each place, and divides places where people or
agents decide.
"""
