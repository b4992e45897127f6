"""Jobs as workflow runs on GitHub Actions, by its REST API.

An attempt is one dispatch of the workflow of its device's vendor, in a repository of ours, and the
run's name carries its id. The result comes back as an artifact. The handle is GitHub's number of
the run and our attempt: `17234567890:12.1.0123456789ab`.
"""

from kernelbot.launchers.github.launcher import GithubLauncher
from kernelbot.launchers.github.settings import GithubDevice, GithubSettings

__all__ = ["GithubDevice", "GithubLauncher", "GithubSettings"]
