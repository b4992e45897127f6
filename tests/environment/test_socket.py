"""Sessions that do nothing, over a WebSocket of the whole application. Nothing is judged."""

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from kernelbot import Judge
from kernelbot.catalog.problem import load_problem
from kernelbot.environment.application import create_application
from kernelbot.environment.episodes import Grounds
from kernelbot.environment.held_out import HeldOutSecret
from kernelbot.environment.origin import Hosts
from kernelbot.environment.sessions import ClientSession, ClientSessions
from kernelbot.environment.settings import EpisodeRules, HeldOut, SessionLimits
from kernelbot.environment.tasks import Division, TaskSet
from tests.environment.examples import EXAMPLES

IDLE_S = 0.2


def client(idle_s: float) -> TestClient:
    """A server with room for one session, which may be idle for `idle_s`."""
    problems = [("sort_np", load_problem(EXAMPLES / "sort_np"))]
    tasks = TaskSet(problems, Division(), HeldOut.NOTHING, HeldOutSecret())
    grounds = Grounds(Judge(), EpisodeRules())  # it is never opened: nothing is judged
    limits = SessionLimits(1, idle_s)
    sessions = ClientSessions(lambda: ClientSession(grounds, tasks, None), limits)
    hosts = Hosts.for_server("127.0.0.1", ("testserver",))
    return TestClient(create_application("kernelbot", tasks, sessions, hosts))


def test_there_is_no_room_for_another_session() -> None:
    patient = client(idle_s=600)
    with patient.websocket_connect("/ws") as session:
        session.send_json({"type": "state"})
        assert "state" == session.receive_json()["type"]
        with patient.websocket_connect("/ws") as refused:
            assert "CAPACITY_REACHED" == refused.receive_json()["data"]["code"]


@pytest.mark.parametrize("begins", [False, True], ids=["never resets", "never steps"])
def test_a_session_that_never_steps_is_told_and_ended_and_makes_room(begins: bool) -> None:
    impatient = client(IDLE_S)
    with impatient.websocket_connect("/ws") as session:
        if begins:
            session.send_json({"type": "reset"})
            assert "observation" == session.receive_json()["type"]
        said = session.receive_json()["data"]
        assert ("SESSION_ERROR", 0.0) == (said["code"], said["unconfirmed"])
        assert "This session was idle for 0.2 s, and is ended." in said["message"]
        with pytest.raises(WebSocketDisconnect):
            session.receive_json()
    with impatient.websocket_connect("/ws") as later:
        # Told the same if it takes its time: it had a session.
        assert "SESSION_ERROR" == later.receive_json()["data"]["code"]
