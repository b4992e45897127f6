"""The problem's code: it makes inputs, and compares outputs."""
