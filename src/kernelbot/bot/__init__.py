"""The Discord door: it translates commands, clicks and messages, and decides nothing."""
