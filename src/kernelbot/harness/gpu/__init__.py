"""What is needed of a GPU, and of none."""
