"""A process is called so by the system, whatever it was started as."""

import subprocess
import sys

import pytest

from kernelbot.protocol.process_names import ProcessName

LOOK = """
from pathlib import Path
from kernelbot.protocol.process_names import ProcessName, name_process
name_process(ProcessName.{name}, {detail!r}{kept})
print(Path("/proc/self/comm").read_text().strip())
print(Path("/proc/self/cmdline").read_bytes().rstrip(b"\\0"))
"""


def look(*arguments: str, name: str = "JUDGE", detail: str = "", keep: bool = False) -> list[str]:
    kept = ", keep_command=True" if keep else ""
    program = LOOK.format(name=name, detail=detail, kept=kept)
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments], check=True, capture_output=True, text=True
    )
    return ran.stdout.splitlines()


def test_a_process_has_the_name_and_shows_the_detail() -> None:
    expected = ["kb:forker", str(b"kb:forker torch")]
    assert expected == look("a", "b", name="FORKER", detail="torch")


def test_a_command_line_that_says_more_is_kept() -> None:
    name, line = look("host", "--slots", "3", name="HOST", keep=True)
    assert ("kb:host", True) == (name, line.endswith(str(b"\0host\0--slots\x003")[2:]))


def test_what_does_not_fit_is_cut_off_and_overwrites_nothing() -> None:
    detail = "x" * 100_000
    name, line = look(detail=detail)
    program = LOOK.format(name="JUDGE", detail=detail, kept="")
    room = len(f"{sys.executable}\0-c\0{program}\0")
    assert ("kb:judge", str(f"kb:judge {detail}".encode()[: room - 1])) == (name, line)


@pytest.mark.parametrize("name", ProcessName)
def test_the_system_has_room_for_each_name(name: ProcessName) -> None:
    assert len(name.encode()) < 16
