"""Problems of flashinfer-bench."""
