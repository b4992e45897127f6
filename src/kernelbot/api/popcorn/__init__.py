"""The contract that existing command-line clients rely on, as a thin adapter.

Every route calls the same services as `/api/v1`; only paths, tokens, statuses and answers are
those of the other contract. See docs/reference/popcorn-http.md.
"""

from kernelbot.api.popcorn import admin, exports, login, platform, problems, read, submit, user

ROUTERS = (
    read.router,
    user.router,
    login.router,
    admin.router,
    platform.router,
    problems.router,
    exports.router,
    submit.router,
    submit.streaming,
)
"""In this order, after all others: the last one's path has the shape of many."""
