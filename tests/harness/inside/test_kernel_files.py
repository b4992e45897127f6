"""Small files of the kernel, read and written as they are."""

from pathlib import Path

import pytest

from kernelbot.harness.inside import kernel_files


def test_what_is_long_and_what_is_no_text_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a'; echo x"
    file.write_bytes(b"\xff" * (1 << 17) + b"\n")
    assert "\ufffd" * (1 << 17) + "\n" == kernel_files.read(str(file))


def test_no_file_is_made_where_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        kernel_files.write(f"{tmp_path}/pids.max", "5")
    assert [] == list(tmp_path.iterdir())


def test_what_is_there_is_found_and_a_look_that_is_refused_is_no_answer(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("nowhere")
    names = ("file", "link", "file/below", "other")
    found = [kernel_files.exists(f"{tmp_path}/{name}") for name in names]
    assert [True, False, False, False] == found
    with pytest.raises(OSError, match="File name too long"):
        kernel_files.exists(f"{tmp_path}/{'x' * 300}")


def test_numbers_are_found_by_name_and_0_stands_for_none(tmp_path: Path) -> None:
    file = tmp_path / "memory.events"
    file.write_text("max 7\noom_kill 2\nodd x\n")
    names = ("oom_kill", "max", "oom", "odd")
    assert [2, 7, 0, 0] == [kernel_files.counter(str(file), name) for name in names]
    assert (0, 0) == (
        kernel_files.counter(f"{file}.not", "max"),
        kernel_files.number(f"{file}.not"),
    )
    file.write_text("12\n")
    assert 12 == kernel_files.number(str(file))
