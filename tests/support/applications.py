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
from kernelbot.drawing import chart_process, text_process
from kernelbot.drawing.texts import Texts
from kernelbot.services import Services
from kernelbot.submissions.profiles import process as profile_process
from kernelbot.submissions.profiles.reader import ProfileReader
from kernelbot.web.kept import PageCache
from tests.support.programs import shared_program

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
    _share_programs(app)
    return app


def _share_programs(app: FastAPI) -> None:
    """What is remembered of their answers, and who has asked for how much, stays each site's."""
    app.state.pictures.drawing._program = shared_program(chart_process.__name__)
    app.state.profiles._program = shared_program(profile_process.__name__)
    app.state.texts._colours = shared_program(text_process.__name__, "colours")
    app.state.texts._differences = shared_program(text_process.__name__, "differences")


@cache
def _built(create: Create, settings: ApiSettings) -> FastAPI:
    # The services are never asked: each application has its own.
    return create(None, settings)  # type: ignore[arg-type]
