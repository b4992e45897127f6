"""What other sites show of boards: badges and Atom feeds. Text from elsewhere is escaped, and what
XML can't hold is written out."""

from collections.abc import Sequence
from datetime import datetime
from urllib.parse import quote

from markupsafe import Markup

from kernelbot.ranking.model import Record
from kernelbot.render.text import counted, cut, one_line
from kernelbot.render.units import seconds_text
from kernelbot.web.paths import board_path

RECORD = "The fastest on {device} when it was submitted."
SCORE = "A score that counts on {device}."
_CELLS = 28
_CHARACTER_PX = 6.6
_PADDING_PX = 10


def about(device: str, total: int, leader: tuple[str, float] | None) -> str:
    """A sentence about a ranking. `leader`: their name and score in seconds; None: nobody is
    ranked."""
    if leader is None:
        return f"Nobody is ranked on {device} yet."
    authors = counted(total, "author")
    name, score_s = leader
    return f"{name} leads with {seconds_text(score_s)} on {device}, {authors} ranked."


def badge(label: str, value: str) -> Markup:
    """Two fields side by side, as an SVG picture of one line of text."""
    label, value = (cut(one_line(text), _CELLS) for text in (label, value))
    left, right = (round(len(text) * _CHARACTER_PX) + _PADDING_PX for text in (label, value))
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img"'
        ' aria-label="{label}: {value}"><title>{label}: {value}</title>'
        '<rect width="{left}" height="20" fill="#3b414d"/>'
        '<rect x="{left}" width="{right}" height="20" fill="#4338ca"/>'
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif"'
        ' font-size="11"><text x="{label_x}" y="14">{label}</text>'
        '<text x="{value_x}" y="14">{value}</text></g></svg>'
    ).format(
        width=left + right,
        left=left,
        right=right,
        label=label,
        value=value,
        label_x=left / 2,
        value_x=left + right / 2,
    )


def atom(
    title: str, own_url: str, base_url: str, records: Sequence[Record], about: str = RECORD
) -> Markup:
    """A feed of scores, as they are given: the newest first. `own_url`: the feed's own; `about`:
    what is said of each, with its `{device}`."""
    newest = records[0].score.achieved_at if records else None
    entries = Markup("").join(_entry(one, base_url, about) for one in records)
    return Markup(
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<feed xmlns="http://www.w3.org/2005/Atom"><title>{title}</title><id>{own}</id>'
        '<link rel="self" type="application/atom+xml" href="{own}"/>'
        '<link rel="alternate" type="text/html" href="{base}/"/>'
        "<updated>{updated}</updated><author><name>KernelBot</name></author>{entries}</feed>\n"
    ).format(
        title=one_line(title),
        own=own_url,
        base=base_url,
        updated=_stamp(newest) if newest else "1970-01-01T00:00:00Z",
        entries=entries,
    )


def _entry(record: Record, base_url: str, about: str) -> Markup:
    score = record.score
    page = f"{base_url}{board_path(record.board)}"
    return Markup(
        "<entry><title>{author}: {score} on {board}, {device}</title><id>{id}</id>"
        '<link rel="alternate" type="text/html" href="{page}"/><updated>{at}</updated>'
        "<author><name>{author}</name></author>"
        "<summary>{about}</summary></entry>"
    ).format(
        author=one_line(score.author),
        score=seconds_text(score.score_s),
        board=one_line(record.board),
        device=one_line(record.device),
        about=about.format(device=one_line(record.device)),
        id=f"{page}#{quote(record.device)}-{round(score.achieved_at.timestamp() * 1e6)}",
        page=page,
        at=_stamp(score.achieved_at),
    )


def _stamp(at: datetime) -> str:
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")
