"""The one shape of every error body."""

from pydantic import Field

from kernelbot.schemas.common import Answer


class ErrorBody(Answer):
    """Why a request was not fulfilled, on every path and with every 4xx and 5xx status."""

    detail: str = Field(description="One sentence for people, with what to do next.")
    code: str = Field(description="A word for machines, e.g. `not_found`.")
    message: str | None = Field(
        default=None, description="The sentence of `detail` alone. Older servers send none."
    )
    next: str | None = Field(
        default=None,
        description="What to do next as a word for programs, e.g. `list_boards`; null: nothing, or "
        "there is no word for it. There may be words in newer releases that aren't known today.",
    )
    hint: str = Field(
        default="", description="What to do next in words, for users of the API; may be empty."
    )
