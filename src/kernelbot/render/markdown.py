"""Text from elsewhere as Markdown of a chat: it looks as it is, and means nothing."""

import re

from kernelbot.render.text import one_line, printable, shorten

MESSAGE_LIMIT = 2000
"""Characters of one message at Discord."""
_SPECIAL = re.compile(r"(^[-+#]|[\\`*_~|<>\[\]@/])")
"""With `/` and `@` written out, no address becomes a link and no name a mention."""
_NOT_A_BACKTICK = "\u02cb"
"""A grave accent that looks like one and ends nothing."""
_BREAK = "\u200b"
"""A space without width: shown, it is nothing, but it parts what would mean something."""


def plain(text: str) -> str:
    """One line without format, mention, link or emoji: for names of people, files and boards."""
    return _SPECIAL.sub(r"\\\1", one_line(text))


def inline(text: str) -> str:
    """One line in a fixed-width font."""
    return f"`{one_line(text).replace('`', _NOT_A_BACKTICK) or ' '}`"


def fence(text: str, language: str = "") -> str:
    """A block in a fixed-width font that its content can't close."""
    safe = printable(text).replace("``", f"`{_BREAK}`")
    if safe.endswith("`"):
        safe += _BREAK
    return f"```{language}\n{safe}\n```"


def fenced_within(text: str, limit: int, language: str = "") -> str:
    """As `fence`, with the middle left out if the whole would be longer than `limit`."""
    block = fence(text, language)
    room = limit
    while len(block) > limit and room > 0:
        room -= max(1, len(block) - limit)
        block = fence(shorten(printable(text), max(room, 0)), language)
    return block
