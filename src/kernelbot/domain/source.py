"""What counts as a source file, wherever one comes in."""

from kernelbot.domain.errors import InvalidSubmission, SubmissionTooLarge

MAX_SOURCE_BYTES = 1 << 20


def source_text(content: bytes) -> str:
    """The text of an author's file.

    Raises `SubmissionTooLarge` beyond the limit, of which a reader needs to bring only one byte
    more, and `InvalidSubmission` for what isn't UTF-8 text.
    """
    if len(content) > MAX_SOURCE_BYTES:
        raise SubmissionTooLarge(
            f"The file is larger than {MAX_SOURCE_BYTES >> 20} MiB, the most that is taken."
        )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidSubmission(
            f"The file isn't UTF-8 text: byte {error.start} can't be read.",
            hint="Save it as UTF-8.",
        ) from None
