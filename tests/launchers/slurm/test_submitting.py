"""What sbatch says, also if it doesn't end in time."""

from asyncio.subprocess import Process

import pytest

from kernelbot.domain.errors import NoRoom
from kernelbot.launchers.slurm import commands
from kernelbot.launchers.slurm.commands import Ended, SlurmCommands, TooLate
from kernelbot.launchers.slurm.submitting import submit

FULL = "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying"


class Late(SlurmCommands):
    """Ends what it runs, which has said so much by then."""

    def __init__(self, errors: str) -> None:
        super().__init__((), 60.0)
        self._errors = errors

    async def run(self, *words: str, stdin: bytes = b"", max_bytes: int = 0) -> Ended:
        raise TooLate(f"{words[0]} didn't answer within 20 s.", self._errors)


@pytest.mark.parametrize("errors", [FULL, f"{FULL}\n{FULL}", "sbatch: error: Slurm job queue full"])
async def test_a_queue_that_is_full_has_no_room(errors: str) -> None:
    with pytest.raises(NoRoom) as refused:
        await submit(Late(errors), (), "")
    assert refused.value.unsure  # through ssh it may be submitted yet


@pytest.mark.parametrize("errors", ["", "sbatch: error: Invalid partition name specified"])
async def test_a_controller_that_says_nothing_in_time_refuses_nothing(errors: str) -> None:
    with pytest.raises(TooLate, match="didn't answer within"):
        await submit(Late(errors), (), "")


async def test_what_a_command_has_said_until_it_was_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def talk(process: Process, *_: object) -> None:
        await process.wait()
        raise TimeoutError

    monkeypatch.setattr(commands, "_talk", talk)
    with pytest.raises(TooLate) as late:
        await SlurmCommands((), 60.0).run("sh", "-c", "echo full >&2")
    assert "full" == late.value.errors
