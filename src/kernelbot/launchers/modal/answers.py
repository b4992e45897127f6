"""What a deployed function returns, read with suspicion."""

from kernelbot.launchers.base import Outcome
from kernelbot.launchers.results import MAX_REASON, lost, read_result

_TEXTS = ("code", "log")


def read_answer(answer: object, attempt: str) -> Outcome:
    """`deploy/modal/run_job.py` makes it: `{"result": bytes}`, or why there is none in `log`."""
    if not isinstance(answer, dict):
        return lost(f"its function returned {type(answer).__name__} instead of an answer")
    result = answer.get("result")
    if isinstance(result, bytes):
        return read_result(result, attempt)
    if answer.get("doubled") is True:
        return lost("another call judges it, and nobody knows which")
    code, said = (str(answer.get(name, ""))[:MAX_REASON] for name in _TEXTS)
    last = said.strip().splitlines()[-1] if said.strip() else "it said nothing"
    return lost(f"the harness ended with exit code {code} and no result: {last}")
