"""CUDA kernels on the processor: what an author wrote becomes C++ that a block's threads run."""
