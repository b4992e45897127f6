"""KernelBot: submissions of kernels, judged in a sandbox, measured honestly, ranked at once."""
