"""What was timed in runs, and who sees it."""
