"""Jobs on Kubernetes: each is a `Job` with one pod, by the cluster's API.

The Job's name is made of the attempt's id, so that there is one of each attempt. What its pod must
know lies in a Secret that goes with the Job. The result comes back in the container's log, and
what became of all Jobs is watched. The handle is the Job's uid and our attempt:
`6fd6bd9c-1b1e-4f4e-9bd5-2f0b8e9b0f5e:12.1.0123456789ab`.
"""

from kernelbot.launchers.kubernetes.launcher import KubernetesLauncher
from kernelbot.launchers.kubernetes.settings import (
    KubernetesDevice,
    KubernetesSettings,
    Security,
    Toleration,
)

__all__ = [
    "KubernetesDevice",
    "KubernetesLauncher",
    "KubernetesSettings",
    "Security",
    "Toleration",
]
