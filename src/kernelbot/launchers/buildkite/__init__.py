"""Jobs as builds on Buildkite, by its REST API.

An attempt is one build of the pipeline of `deploy/buildkite/`, whose message is our name for it.
Its environment names the queue, which is that of one GPU's agent, and carries the job. The result
comes back as an artifact. The handle is the build's number and our attempt:
`4711:12.1.0123456789ab`.
"""

from kernelbot.launchers.buildkite.launcher import BuildkiteLauncher
from kernelbot.launchers.buildkite.settings import QUEUE, BuildkiteSettings

__all__ = ["QUEUE", "BuildkiteLauncher", "BuildkiteSettings"]
