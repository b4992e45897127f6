"""How the warm judge of `kernelbot run` and `kernelbot dev` is started, and how long it stays."""

import sys

from kernelbot.harness.host.warm.client import WarmJudge, WarmStart
from kernelbot.harness.host.warm.folder import PrivateFolder
from kernelbot.harness.host.warm.names import environment

IDLE_S = 600.0
"""A warm judge without a job ends after this time."""
_HARNESS = ("-P", "-m", "kernelbot.harness")


def warm_judge(folder: PrivateFolder, idle_s: float = IDLE_S) -> WarmJudge:
    """The one that goes with this process."""

    def start() -> WarmStart:
        import platformdirs  # not needed beside a judge that runs

        cache = platformdirs.user_cache_path("kernelbot") / "builds"
        options = ("--idle-s", str(idle_s), "--build-cache", str(cache))
        return WarmStart((sys.executable, *_HARNESS), environment(), options)

    return WarmJudge(folder, start)
