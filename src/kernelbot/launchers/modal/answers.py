"""What a deployed function returns, read with suspicion."""

from kernelbot.launchers.base import Outcome
from kernelbot.launchers.results import MAX_REASON, found, lost

_TEXTS = ("code", "log")
_LARGEST_CODE = 1 << 32


def read_answer(answer: object, most: int) -> Outcome:
    """`deploy/modal/run_job.py` makes it: `{"result": bytes}`, or why there is none in `log`.
    `most`: how many bytes the result may have."""
    if not isinstance(answer, dict):
        return lost(f"its function returned {type(answer).__name__} instead of an answer")
    result = answer.get("result")
    if isinstance(result, bytes):
        return found(result, most)
    if answer.get("doubled") is True:
        return lost("another call judges it, and nobody knows which")
    code, said = (_text(answer.get(name)) for name in _TEXTS)
    last = said.strip().splitlines()[-1] if said.strip() else "it said nothing"
    return lost(f"the harness ended with exit code {code} and no result: {last}")


def _text(value: object) -> str:
    """What it says, if it is of the kind that is asked for: Python writes neither numbers of
    thousands of digits nor lists in thousands of lists."""
    if isinstance(value, int) and abs(value) < _LARGEST_CODE:
        return str(value)
    return value[:MAX_REASON] if isinstance(value, str) else ""
