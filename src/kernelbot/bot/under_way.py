"""What is being answered just now, and what becomes of it when the bot ends."""

import asyncio


class AnswersUnderWay:
    """The tasks in which somebody's command, click or message is answered."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[object]] = set()

    def begin(self) -> None:
        """The current task answers somebody, until it ends."""
        task = asyncio.current_task()
        assert task is not None, "coroutines run in tasks"
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def end(self, patience_s: float) -> None:
        """Let them come to their end, as long as Discord can still be told; who asked would wait
        for nothing. What takes longer is cancelled."""
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=patience_s)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
