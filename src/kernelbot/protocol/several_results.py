"""What a node leaves that has judged a job and what follows it: one JSON object, the job's own
result, with that of the other as one more key."""

from typing import Any

from kernelbot.protocol.codec import WireError, to_wire
from kernelbot.protocol.job import JobSpec
from kernelbot.protocol.result import RunResult

_FOLLOW_UP = "follow_up"


def results_to_wire(result: RunResult, next_result: RunResult | None) -> dict[str, Any]:
    """A job's result and that of what followed it; None: nothing did."""
    wire = to_wire(result)
    return wire if next_result is None else {**wire, _FOLLOW_UP: to_wire(next_result)}


def own_result(value: Any, job: JobSpec) -> Any:
    """The job's own result, of all that a node has left. Nothing may follow a job to which nothing
    was added: then the key stays, and is refused."""
    if job.follow_up is None or not isinstance(value, dict):
        return value
    return {key: item for key, item in value.items() if key != _FOLLOW_UP}


def next_result(value: Any) -> Any:
    """The same of what followed the job. Raises `WireError` if there is nothing."""
    if not isinstance(value, dict) or _FOLLOW_UP not in value:
        raise WireError("nothing followed it")
    return value[_FOLLOW_UP]
