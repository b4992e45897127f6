"""The one shape of every error body."""

from dataclasses import field

from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class ErrorBody:
    """Why a request was not fulfilled, on every path and with every 4xx and 5xx status."""

    detail: str = field(metadata=described("One sentence for people, with what to do next."))
    code: str = field(metadata=described("A word for machines, e.g. `not_found`."))
    message: str | None = field(
        default=None,
        metadata=described("The sentence of `detail` alone. Older servers send none."),
    )
    next: str | None = field(
        default=None,
        metadata=described(
            "What to do next as a word for programs, e.g. `list_boards`; null: nothing, or "
            "there is no word for it. There may be words in newer releases that aren't known "
            "today."
        ),
    )
    hint: str = field(
        default="",
        metadata=described("What to do next in words, for users of the API; may be empty."),
    )
