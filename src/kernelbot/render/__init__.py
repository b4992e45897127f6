"""Results as text, tables and small plots: pure functions."""
