"""Jobs on a Slurm cluster, by its own commands: sbatch, squeue, scontrol, scancel, sinfo.

Below a folder that login and compute nodes share lie the harness (by its hash), a folder for each
job with `result.json` and `log`, and in `done` a file for each job that has ended. The handle is
Slurm's number and ours: `4711:12.1.0123456789ab`.
"""

from kernelbot.launchers.slurm.launcher import SlurmLauncher
from kernelbot.launchers.slurm.settings import SlurmDevice, SlurmSettings

__all__ = ["SlurmDevice", "SlurmLauncher", "SlurmSettings"]
