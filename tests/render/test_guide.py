"""The guide's commands: the names of files that they begin with."""

from pathlib import Path

import pytest

from kernelbot.render.guide import for_board, for_folder


@pytest.mark.parametrize("suffix", [".py", ".cu", ".cpp"])
def test_other_files_end_as_the_submission_does(suffix: str) -> None:
    file = f"submission{suffix}"
    board = for_board("sort", "http://kernels.example", file, ["CPU"], []).text()
    folder = for_folder("sort", Path("sort"), file, ["CPU"]).text()
    pulled = f"pull ID --to before{suffix} "
    compared = f"compare {file} other{suffix} "
    assert (True, True) == (pulled in board, compared in folder)
