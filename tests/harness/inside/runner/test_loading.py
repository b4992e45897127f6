"""What a runner writes and imports before it calls anything."""

import threading
from pathlib import Path

from kernelbot.harness.inside.runner.loading import write_files


def test_a_file_is_whole_whenever_another_rank_reads_it(tmp_path: Path) -> None:
    text, over = "NAME = 1\n" * 1000, threading.Event()
    write_files(str(tmp_path), {"tensors.py": text})

    def write() -> None:
        while not over.is_set():
            write_files(str(tmp_path), {"tensors.py": text})

    rank = threading.Thread(target=write)
    rank.start()
    seen = {(tmp_path / "tensors.py").read_text() for _ in range(2000)}
    over.set()
    rank.join()
    assert ({text}, ["tensors.py"]) == (seen, [file.name for file in tmp_path.iterdir()])
