"""Starting this harness again, in another process."""

import os
import sys
from pathlib import Path

from kernelbot.protocol.environment import passed_on


def harness_command() -> list[str]:
    """How to start this harness again: the zipapp itself, or the module of the source tree."""
    root = Path(__file__).resolve().parents[3]
    if root.is_file():
        return [sys.executable, str(root)]
    return [sys.executable, "-m", "kernelbot.harness"]


def harness_environment() -> dict[str, str]:
    """What of our environment goes on, with the source tree findable."""
    root = Path(__file__).resolve().parents[3]
    kept = os.environ.get("PYTHONPATH")
    return {
        **passed_on(os.environ),
        "PYTHONPATH": f"{root}{os.pathsep}{kept}" if kept else str(root),
    }
