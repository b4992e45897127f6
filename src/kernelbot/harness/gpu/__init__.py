"""Access to a GPU, timing on it, and the emulation of CUDA on a CPU."""
