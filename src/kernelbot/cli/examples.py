"""Examples under a command's help."""


def examples(*lines: str) -> str:
    """An epilog with one example per line."""
    return "\n\n".join(("Examples:", *lines))
