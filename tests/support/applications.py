"""Applications that many tests begin with: building one takes 0.2 s of a processor each time."""

import copy
from collections.abc import Callable
from functools import cache

from fastapi import FastAPI
from starlette.datastructures import State

from kernelbot.api.answers import RenderedAnswers
from kernelbot.api.attempts import Attempts, Failures
from kernelbot.api.settings import ApiSettings
from kernelbot.boards.pages.charts import ChartCache
from kernelbot.drawing.texts import Texts
from kernelbot.services import Services
from kernelbot.submissions.profiles.reader import ProfileReader
from kernelbot.web.kept import PageCache

Create = Callable[[Services, ApiSettings], FastAPI]


def application(create: Create, services: Services, settings: ApiSettings) -> FastAPI:
    """What `create` makes, with routes that are built once. Whatever an application remembers, and
    routes that a test adds, are its own; but its metrics count what others were asked too."""
    built = _built(create, settings)
    app = copy.copy(built)
    app.router = copy.copy(built.router)
    app.router.routes = [*built.router.routes]
    app.router.middleware_stack = app.router.app  # else still that of the copied router
    app.middleware_stack = None  # made with the first request
    own = {
        "services": services,
        "answers": RenderedAnswers(),
        "attempts": Attempts(),
        "failures": Failures.up_to(settings.wrong_tokens_a_minute, built.state.failures.metric),
        "kept": PageCache(),
        "pictures": ChartCache(),
        "profiles": ProfileReader(settings.profiles_patience_s),
        "texts": Texts(settings.texts_patience_s),
    }
    app.state = State({**built.state._state, **own})
    return app


@cache
def _built(create: Create, settings: ApiSettings) -> FastAPI:
    # The services are never asked: each application has its own.
    return create(None, settings)  # type: ignore[arg-type]
