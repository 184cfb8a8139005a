"""Rules about the order of steps: their sentences, the steps that they select, and the proof that they hold."""
