"""Text from elsewhere made safe and short enough to show."""

from collections.abc import Collection, Iterable


def cell_len(text: str) -> int:
    """How many cells of a terminal the text takes."""
    if text.isascii() and text.isprintable():
        return len(text)
    from rich import cells  # here: it takes long to load, and most texts are plain

    return cells.cell_len(text)


def printable(text: str) -> str:
    """`text` with control characters written out (`\\x1b`), newlines and tabs kept: what a
    program prints must not move the reader's cursor or colour their terminal."""
    return "".join(_visible(character) for character in text)


def one_line(text: str) -> str:
    """A printable text, with newlines and tabs written out too: for names in tables."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def encodable(text: str) -> str:
    """The text as UTF-8 can write it: with `?` for halves of surrogate pairs."""
    return text.encode(errors="replace").decode()


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters: the middle is cut out, and a note says how much."""
    if len(text) <= limit:
        return text
    note = left_out(len(text) - limit)
    room = limit - len(note)
    if room <= 0:
        return text[:limit]
    head = room // 2
    return text[:head] + note + text[len(text) - (room - head) :]


def left_out(count: int) -> str:
    """The note instead of so many characters, on a line of its own."""
    return f"\n[... {count} characters left out ...]\n"


def counted(number: int, thing: str) -> str:
    """`1 run`, `2 runs`: a number of things whose plural ends in s."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def with_article(word: str) -> str:
    """`a creator`, `an admin`."""
    return f"an {word}" if word[:1].lower() in "aeiou" else f"a {word}"


def indent(text: str, by: str = "    ") -> str:
    """Every line with `by` in front."""
    return "\n".join(by + line for line in text.splitlines())


def wrap(text: str, columns: int) -> str:
    """Lines of at most `columns` terminal cells, broken between words; continuation lines are
    indented by two more than their line. A single word that is wider stays whole."""
    return "\n".join(part for line in text.split("\n") for part in _wrapped(line, columns))


def _wrapped(line: str, columns: int) -> list[str]:
    if cell_len(line) <= columns:
        return [line]
    words = line.split(" ")
    margin = " " * (len(line) - len(line.lstrip(" ")) + 2)
    parts = [words[0]]
    for word in words[1:]:
        longer = f"{parts[-1]} {word}"
        if cell_len(longer) <= columns or not parts[-1].strip():
            parts[-1] = longer
        else:
            parts.append(margin + word)
    return parts


def distinct(names: Iterable[str], cells: int, reserved: Collection[str] = ()) -> dict[str, str]:
    """A label of one line of at most `cells` cells for each name. Labels that would be equal to an
    earlier one, or to one of `reserved`, end with a number: `a long na… (2)`."""
    labels: dict[str, str] = {}
    used = set(reserved)
    for name in dict.fromkeys(names):
        line = one_line(name)
        label, number = cut(line, cells), 1
        while label in used:
            number += 1
            end = f" ({number})"
            label = cut(line, cells - len(end)) + end
        used.add(label)
        labels[name] = label
    return labels


def cut(text: str, cells: int) -> str:
    """At most so many terminal cells of one line; an ellipsis stands for the rest."""
    if cell_len(text) <= cells:
        return text
    kept = ""
    for character in text:
        if cell_len(kept + character) > cells - 1:
            break
        kept += character
    return kept + "…"


def _visible(character: str) -> str:
    if character in "\n\t" or character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")
