"""Handing a job to sbatch, and what its refusal means."""

from collections.abc import Sequence

from kernelbot.domain.errors import NoRoom
from kernelbot.launchers.slurm.commands import SlurmCommands, TooLate
from kernelbot.launchers.slurm.states import refusal


async def submit(
    commands: SlurmCommands, options: Sequence[str], script: str, *, all_alike: bool = False
) -> str:
    """What sbatch answered. Raises what `refusal` says, and `TooLate`.

    If Slurm holds as many jobs as it may, sbatch tries again for two minutes, longer than a
    command of ours has: what it has said until then tells that there is no room.
    """
    try:
        ended = await commands.run("sbatch", *options, stdin=script.encode())
    except TooLate as error:
        refused = refusal(error.errors)
        if isinstance(refused, NoRoom):
            raise NoRoom(str(refused), unsure=True) from None
        raise
    if ended.code != 0:
        raise refusal(ended.errors, all_alike=all_alike)
    return ended.text
