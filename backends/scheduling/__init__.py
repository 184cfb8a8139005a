"""How a program is cut into steps and jobs that run at most once and in order, whatever target runs them.

`places` are nodes that are one step: a node alone, or a loop. `flow` and `plan` say when a step is reached by the
outcomes of earlier steps, as `condition`. `routes` say where a run may go from each place, `jobs` cut places where
others decide in between.
"""
