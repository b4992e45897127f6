"""The lines of a source text, as those count them who name one by its number."""

import re

_END = re.compile(r"\r\n?|\n")


def source_lines(text: str) -> list[str]:
    """As compilers and Python count them: a form feed, say, ends none, as it does for
    `splitlines`. What comes after the last end is a line unless it is empty."""
    lines = _END.split(text)
    return lines if lines[-1] else lines[:-1]
