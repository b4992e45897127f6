"""Jobs on a Ray cluster: each is a task with the resources of its device.

A task ends with the process that owns it, so an actor of ours on the cluster, the keeper, starts
all tasks and keeps their results: they go on when a worker ends. Ray's package is loaded in a
process of its own (`ray_process`, `child`). The handle is the keeper's id and our attempt:
`6f1d2c3b4a59:12.1.0123456789ab`.
"""

from kernelbot.launchers.ray.launcher import RayLauncher
from kernelbot.launchers.ray.settings import RayDevice, RaySettings

__all__ = ["RayDevice", "RayLauncher", "RaySettings"]
