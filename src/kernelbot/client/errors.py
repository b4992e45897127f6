"""What can go wrong between a client and its server."""

from typing import TYPE_CHECKING

from kernelbot.domain.errors import KernelbotError, PlatformError
from kernelbot.domain.next_steps import known_step
from kernelbot.protocol import Fault

if TYPE_CHECKING:
    from kernelbot.schemas.errors import ErrorBody


class Refused(KernelbotError):
    """The server answered with an error. `status` is HTTP's; `code`, the sentence, what to do next
    and whose fault it is are the server's."""

    def __init__(self, status: int, body: "ErrorBody") -> None:
        message = body.detail if body.message is None else body.message
        super().__init__(message, hint=body.hint, next_step=known_step(body.next))
        self.status = status
        self.code = body.code
        self.fault = _fault(status, body.code)


class Unreachable(PlatformError):
    """No connection to the server, or it broke and didn't come back."""

    code = "unreachable"


class BadAnswer(PlatformError):
    """The server's answer isn't one that this client understands."""

    code = "bad_answer"


def _fault(status: int, code: str) -> Fault:
    if code in ("scheduler_error", "job_refused"):
        return Fault.SCHEDULER
    return Fault.AUTHOR if status < 500 else Fault.PLATFORM
