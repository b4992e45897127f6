"""HTML of a cell's report: every text is escaped, and nothing in it is a script."""

import base64
from collections.abc import Sequence
from html import escape


class NotebookPage:
    """Parts below each other."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def heading(self, text: str, link: str) -> None:
        """The first line stands out. `link`: where more is; empty: nowhere."""
        first, *others = text.split("\n")
        lines = [f"<strong>{escape(first)}</strong>", *map(escape, others)]
        if link:
            lines.append(f'<a href="{escape(link)}" target="_blank">{escape(link)}</a>')
        self._parts.append(f"<p>{'<br>'.join(lines)}</p>")

    def source_line(self, where: str, code: str) -> None:
        self._parts.append(f"<p>{escape(where)}</p><pre>{escape(code)}</pre>")

    def failure(self, title: str, said: str) -> None:
        """One way in which cases failed."""
        self._parts.append(f"<p>{escape(title)}</p>")
        self.block(said)

    def block(self, text: str) -> None:
        """Text as it is; nothing if there is none."""
        if text:
            self._parts.append(f"<pre>{escape(text)}</pre>")

    def note(self, text: str) -> None:
        """A small sentence."""
        self._parts.append(f"<p><small>{escape(text)}</small></p>")

    def table(self, headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """The first cell of each row is its head."""
        head = "".join(f'<th scope="col">{escape(one)}</th>' for one in headers)
        body = "".join(
            f'<tr><th scope="row">{escape(first)}</th>'
            + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
            + "</tr>"
            for first, *cells in rows
        )
        self._parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")

    def picture(self, svg: bytes, instead: str) -> None:
        """A picture. `instead`: what it shows, for those who don't see it."""
        data = base64.b64encode(svg).decode()
        self._parts.append(f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(instead)}">')

    def folded(self, title: str, text: str) -> None:
        """Text that is shown when it is asked for."""
        self._parts.append(
            f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"
        )

    def html(self) -> str:
        return f'<div class="kernelbot">{"".join(self._parts)}</div>'
