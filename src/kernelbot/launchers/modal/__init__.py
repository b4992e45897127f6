"""Jobs on Modal: each is a call of a deployed function, which runs the harness in a container.

A call can't be looked up by a name, so a Dict of Modal's knows the one call of each attempt: the
launcher and the function write into it, and whoever comes first is right. The handle is Modal's id
and ours: `fc-01ABC:12.1.0123456789ab`. `package` talks to Modal, and is imported with the kind.
"""

from kernelbot.launchers.modal.launcher import ModalLauncher
from kernelbot.launchers.modal.settings import ModalDevice, ModalSettings

__all__ = ["ModalDevice", "ModalLauncher", "ModalSettings"]
