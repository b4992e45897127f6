import pytest

from kernelbot.domain.errors import InvalidSubmission, SubmissionTooLarge
from kernelbot.domain.source import MAX_SOURCE_BYTES, source_text


def test_text_comes_back_as_it_is() -> None:
    assert "# späße\r\nx = 1" == source_text("# späße\r\nx = 1".encode())


def test_another_encoding_is_refused() -> None:
    with pytest.raises(InvalidSubmission, match="byte 5 can't be read"):
        source_text(b"x = '\xff'")


def test_the_largest_file_is_taken_and_one_byte_more_is_not() -> None:
    assert MAX_SOURCE_BYTES == len(source_text(b"#" * MAX_SOURCE_BYTES))
    with pytest.raises(SubmissionTooLarge, match="1 MiB"):
        source_text(b"#" * (MAX_SOURCE_BYTES + 1))
