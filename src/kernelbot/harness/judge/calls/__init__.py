"""The trusted end of a runner: its messages, its data, and freezing it."""
