"""The one shape of every error body."""

from pydantic import Field

from kernelbot.schemas.common import Answer


class ErrorBody(Answer):
    """Why a request was not fulfilled, on every path and with every 4xx and 5xx status."""

    detail: str = Field(description="One sentence for people, with what to do next.")
    code: str = Field(description="A word for machines, e.g. `not_found`.")
