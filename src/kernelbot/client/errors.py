"""What can go wrong between a client and its server."""

from kernelbot.domain.errors import KernelbotError, PlatformError
from kernelbot.protocol import Fault

_HINTS = {
    "not_authenticated": "Get a token (`kernelbot user create NAME`, by an admin of the server) "
    "and keep it with `kernelbot login URL TOKEN`.",
    "rate_limited": "Wait a little and try again.",
}


class Refused(KernelbotError):
    """The server answered with an error. `status` is HTTP's; `code`, the sentence and whose
    fault it is are the server's."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail, hint=_HINTS.get(code, ""))
        self.status = status
        self.code = code
        self.fault = _fault(status, code)


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
