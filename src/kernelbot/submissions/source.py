"""What counts as a source file, at every door."""

from pathlib import PurePath

from kernelbot.domain.errors import InvalidSubmission, SubmissionTooLarge
from kernelbot.protocol import Lang

MAX_SOURCE_BYTES = 1 << 20


def check_language(file_name: str, lang: Lang) -> None:
    """Raises `InvalidSubmission` if the file's name is of another language than its problem."""
    if PurePath(file_name).suffix.lower() not in lang.suffixes:
        endings = " or ".join(lang.suffixes)
        raise InvalidSubmission(
            f"This problem is solved in {lang.label}, so {file_name!r} isn't a solution to it.",
            hint=f"Submit a file whose name ends in {endings}.",
        )


def language_of(file_name: str) -> Lang:
    """By the name's ending; Python if no language has it."""
    return Lang.by_suffix(PurePath(file_name).suffix) or Lang.PY


def listed_suffixes() -> str:
    """How names of source files end, for people: `.py, .cu or .cpp`."""
    *first, last = Lang.all_suffixes()
    return f"{', '.join(first)} or {last}"


def source_text(content: bytes) -> str:
    """The text of an author's file, without the byte order mark that some editors put first.

    Raises `SubmissionTooLarge` beyond the limit (a caller needs to read only one byte more than
    the limit), and `InvalidSubmission` for what isn't UTF-8 text.
    """
    if len(content) > MAX_SOURCE_BYTES:
        raise SubmissionTooLarge(
            f"The file is larger than {MAX_SOURCE_BYTES >> 20} MiB, the most that is taken."
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidSubmission(
            f"The file isn't UTF-8 text: byte {error.start} can't be read.",
            hint="Save it as UTF-8.",
        ) from None
