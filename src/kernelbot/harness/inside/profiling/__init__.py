"""What profilers call in the author's process."""
