"""Text from elsewhere as Markdown of a chat: it looks as it is, and means nothing."""

import re
from bisect import bisect_right

from kernelbot.render.text import left_out, one_line, printable

MESSAGE_LIMIT = 2000
"""Characters of one message at Discord, which counts code points, as Python does."""
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


def fence(text: str) -> str:
    """A block in a fixed-width font that its content can't close."""
    return _block(_safe(_lines(text)))


def fits_fenced(text: str, limit: int) -> bool:
    """Whether `fenced_within` leaves nothing out."""
    return len(_lines(text)) <= limit and len(fence(text)) <= limit


def fenced_within(text: str, limit: int) -> str:
    """A fence with the middle left out if the whole would be longer than `limit`: as much is
    shown as fits. A block is never shorter than its own marks."""
    if fits_fenced(text, limit):
        return fence(text)
    lines = _lines(text)
    room = limit - len(_block("`"))
    note = left_out(len(lines))
    if room <= len(note):
        return _block(_safe(lines[: _fitting(lines, room)]))
    room -= len(note)
    head = lines[: _fitting(lines, room // 2)]
    reversed_tail = lines[::-1][: _fitting(lines[::-1], room - len(_safe(head)))]
    missing = left_out(len(lines) - len(head) - len(reversed_tail))
    return _block(_safe(head) + missing + _safe(reversed_tail[::-1]))


def _fitting(text: str, room: int) -> int:
    """How many characters of it may be shown in `room` characters, if it is cut off there."""
    candidates = range(max(0, min(room, len(text))) + 1)
    return bisect_right(candidates, max(0, room), key=lambda count: len(_safe(text[:count]))) - 1


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")


def _safe(text: str) -> str:
    """With nothing that could end a block. It is as long if `text` is read backwards."""
    return printable(text).replace("``", f"`{_BREAK}`")


def _block(safe: str) -> str:
    return f"```\n{safe}{_BREAK if safe.endswith('`') else ''}\n```"
