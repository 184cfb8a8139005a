"""Rules about the order of steps: their sentences, what they select in a program, and the proof that they hold."""
