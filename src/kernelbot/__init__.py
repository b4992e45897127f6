"""KernelBot: submissions of kernels, judged in a sandbox, measured honestly, ranked at once."""

__version__ = "0.1.0"
