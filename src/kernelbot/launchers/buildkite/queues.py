"""Which of a device's queues gets the next job. Each is that of one GPU's agent."""

from collections.abc import Iterable

from kernelbot.launchers.buildkite.answers import Agent


class Queues:
    """Remembers which agents were connected, and idle, when they were last seen. `uploads`: the
    queue of those that upload the step which judges; None: there may be none."""

    def __init__(self, uploads: str | None = None) -> None:
        self._uploads = uploads
        self._connected: frozenset[str] | None = None
        """None: nobody knows."""
        self._idle: set[str] = set()
        self._turn = 0

    def see(self, agents: Iterable[Agent] | None) -> None:
        """The agents, as they are now; None: they can't be seen."""
        if agents is None:
            self._connected, self._idle = None, set()
            return
        connected = [agent for agent in agents if agent.connection_state == "connected"]
        self._connected = frozenset(agent.queue for agent in connected)
        self._idle = {agent.queue for agent in connected if agent.job is None}

    def choose(self, queues: tuple[str, ...]) -> str:
        """One whose agent is idle; else one with an agent; else any. They take turns."""
        idle = [queue for queue in queues if queue in self._idle]
        usable = idle or self._with_an_agent(queues) or list(queues)
        self._turn += 1
        chosen = usable[self._turn % len(usable)]
        self._idle.discard(chosen)
        return chosen

    def why_not(self, queues: tuple[str, ...]) -> str:
        """Why none of them takes jobs; empty if one may."""
        if self._connected is None:
            return ""
        if self._uploads is not None and self._uploads not in self._connected:
            return f"no agent is connected for {self._uploads}, which uploads the step that judges"
        if self._with_an_agent(queues):
            return ""
        return f"no agent is connected for {', '.join(queues)}"

    def _with_an_agent(self, queues: tuple[str, ...]) -> list[str]:
        return [queue for queue in queues if queue in (self._connected or ())]
