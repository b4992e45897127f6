from pathlib import Path

import pytest

from kernelbot.protocol.os_errors import in_words


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(24, "Too many open files"), "Too many open files"),
        (FileNotFoundError(2, "No such file", "/a'; echo x"), "No such file: /a'; echo x"),
        (OSError("libcuda.so.1: cannot open"), "libcuda.so.1: cannot open"),
        (ValueError("embedded null byte"), "embedded null byte"),
        (TimeoutError(), "TimeoutError"),
    ],
)
def test_an_error_is_told_without_its_number(error: Exception, words: str) -> None:
    assert words == in_words(error)


def test_a_real_one_says_what_and_where(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file") as caught:
        (tmp_path / "none").read_text()
    assert f"No such file or directory: {tmp_path / 'none'}" == in_words(caught.value)
