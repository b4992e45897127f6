"""The Python of the documentation's pages, run as it is written."""

import subprocess
import sys
from pathlib import Path

import pytest

from kernelbot.harness.host.warm.folder import PrivateFolder
from tests.support.warm import end_judges
from tests.test_documented_commands import DOCS, blocks, shell_in_a_folder

PAGE = DOCS / "how-to" / "judge-from-python.md"


@pytest.mark.exhaustive
@pytest.mark.timeout(300)  # some seconds of a processor, which others may share
def test_the_page_on_judging_from_python_does_what_it_says() -> None:
    program = "\n".join(text for kind, text in blocks(PAGE) if kind == "python")
    with shell_in_a_folder() as shell:
        try:
            done = subprocess.run(
                [sys.executable, "-c", program],
                cwd=shell.home,
                env={**shell.environment, "XDG_RUNTIME_DIR": str(shell.home)},
                capture_output=True,
                text=True,
                timeout=240,
                check=False,
            )
        finally:
            end_judges(PrivateFolder.open(Path(shell.home, "kernelbot")))
    lines = done.stdout.splitlines()
    assert (0, "") == (done.returncode, done.stderr)
    assert ["accepted 100% of the tests", "wrong_answer author 10006 of 10007 elements differ"] == [
        lines[0],
        lines[1].partition(",")[0],
    ]
    assert ["0 accepted", "1 accepted", "2 wrong_answer", "3 runtime_error"] == sorted(lines[2:6])
    assert lines[6].startswith("[1.0, 1.0, ")
    assert "Is it running" in lines[7]
