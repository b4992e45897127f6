"""The trusted side of a problem: its data, its reference, and what a right answer is."""
