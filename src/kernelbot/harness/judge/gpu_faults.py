"""Whether a GPU still works after work on it has failed: only then is it the author's fault, or the
problem's."""

from collections.abc import Callable

from kernelbot.harness.gpu.judge_device import JudgeDevice
from kernelbot.harness.inside.cage.loader import ProblemBroken
from kernelbot.harness.inside.cage.questions import Question
from kernelbot.harness.inside.gpu.driver import GpuError
from kernelbot.harness.judge.measuring.control_runner import Control
from kernelbot.harness.words.failures import AuthorFailure
from kernelbot.harness.words.sandbox import SandboxUnavailable

TRIAL_S = 60.0


def expect_sound_contexts(devices: tuple[JudgeDevice, ...]) -> None:
    """Try the judge's own contexts. Raises `SandboxUnavailable` if one fails: nobody is to
    blame."""
    try:
        for device in devices:
            device.expect_sound()
    except GpuError as error:
        raise _failed(error) from error


def expect_sound_control(control: Callable[[], Control], question: Callable[[], Question]) -> None:
    """Try calls of the control runner's with a question's data, once the author's runners are gone.
    Raises `SandboxUnavailable` if they fail."""
    try:
        control().calibrate(0, question().given, 0.0)
    except (GpuError, ProblemBroken, AuthorFailure, SandboxUnavailable) as error:
        raise _failed(error) from error


def _failed(error: Exception) -> SandboxUnavailable:
    return SandboxUnavailable(
        "The GPU itself has failed, not the submission: others can't compute on it either "
        f"({error}). Look at it (nvidia-smi -q, rocm-smi; dmesg) before more jobs run there."
    )
