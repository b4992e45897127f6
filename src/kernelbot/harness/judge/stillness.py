"""Whose fault it is if a runner can't be frozen.

All processes in a runner's control group are the author's. One in a system call that looks at no
signal, say mapping a hundred gigabytes, keeps all of them from being frozen; so does a machine
whose disk hangs. Hence the control runner is tried once the author's are gone: if it can be frozen,
nothing was wrong with the machine. A second attempt must confirm it.
"""

from collections.abc import Callable

from kernelbot.harness.sandbox.freezer import NotFrozen
from kernelbot.harness.words.failures import AuthorFailure
from kernelbot.protocol import Verdict


def blamed_for_moving(
    error: NotFrozen, end_runners: Callable[[], None], freeze_control: Callable[[], None]
) -> AuthorFailure:
    """The author's failure. `end_runners`: those of the step; `freeze_control`: raises `NotFrozen`
    if the control runner can't be frozen. Raises `NotFrozen` then, and if it was no author's."""
    if error.of_opponent is None:
        raise error
    end_runners()
    freeze_control()
    failure = AuthorFailure(
        Verdict.RUNTIME_ERROR,
        "The submission's processes could not be stopped between calls. Let no "
        "thread or process stay in a system call for seconds, e.g. by mapping many gigabytes.",
        str(error),
    )
    failure.disputable = True
    failure.of_opponent = error.of_opponent
    return failure
