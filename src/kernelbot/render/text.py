"""Text from elsewhere made safe and short enough to show."""


def printable(text: str) -> str:
    """`text` with control characters written out (`\\x1b`), newlines and tabs kept: what a
    program prints must not move the reader's cursor or colour his terminal."""
    return "".join(_visible(character) for character in text)


def one_line(text: str) -> str:
    """As `printable`, with newlines and tabs written out too: for names in tables."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters: the middle is cut out, and a note says how much it was."""
    if len(text) <= limit:
        return text
    note = f"\n[... {len(text) - limit} characters left out ...]\n"
    room = limit - len(note)
    if room <= 0:
        return text[:limit]
    head = room // 2
    return text[:head] + note + text[len(text) - (room - head) :]


def indent(text: str, by: str = "    ") -> str:
    """Every line moved in."""
    return "\n".join(by + line for line in text.splitlines())


def _visible(character: str) -> str:
    if character in "\n\t" or character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")
