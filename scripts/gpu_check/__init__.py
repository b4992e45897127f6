"""`make gpu-check`: what can only be checked on a machine with a GPU, as one report."""
