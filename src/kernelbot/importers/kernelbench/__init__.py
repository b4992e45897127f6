"""Problems of KernelBench."""
