"""OpenEnv's routes to the tasks, by split and index; and its MCP route, which has no tools here."""

import json
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel

from kernelbot.domain.errors import NotFound
from kernelbot.environment.messages import TaskSummary, TaskView
from kernelbot.environment.tasks import Split, TaskSet
from kernelbot.environment.views import task_summary, task_view
from kernelbot.render.text import encodable
from kernelbot.schemas.models import Message

_PARSE_ERROR, _INVALID_REQUEST, _NO_METHOD = -32700, -32600, -32601


class SplitView(BaseModel):
    """A split that has tasks."""

    name: Split
    type: Split


class AskedSplit(Message):
    """A split's name."""

    split: str


class AskedTask(AskedSplit):
    """One task."""

    index: int


class AskedTasks(AskedSplit):
    """The tasks from `start` up to `stop`, by the rules of Python's slices."""

    start: int | None = None
    stop: int | None = None


class TaskList(BaseModel):
    """All tasks of a split."""

    tasks: list[TaskSummary]
    env_name: str


class TaskCount(BaseModel):
    """How many tasks a split has."""

    num_tasks: int


class OneTask(BaseModel):
    """One task."""

    task: TaskView


class SomeTasks(BaseModel):
    """Some tasks."""

    tasks: list[TaskView]


def task_routes(name: str, tasks: TaskSet) -> APIRouter:
    """For the environment of this name."""
    router = APIRouter()

    def expect(env_name: str) -> None:
        if env_name.casefold() != name.casefold():
            raise NotFound(f"There is no environment {env_name[:100]!r}.", hint=f"This is {name}.")

    @router.get("/list_environments")
    async def list_environments() -> list[str]:
        """The name of this one."""
        return [name]

    @router.get("/{env_name}/splits")
    async def splits(env_name: str) -> list[SplitView]:
        """The splits that have tasks."""
        expect(env_name)
        return [SplitView(name=split, type=split) for split in tasks.splits]

    @router.post("/{env_name}/tasks")
    async def list_tasks(env_name: str, asked: AskedSplit) -> TaskList:
        """A split's tasks, without their statements."""
        expect(env_name)
        found = [task_summary(task) for task in tasks.in_split(asked.split)]
        return TaskList(tasks=found, env_name=name)

    @router.post("/{env_name}/num_tasks")
    async def num_tasks(env_name: str, asked: AskedSplit) -> TaskCount:
        """How many tasks a split has."""
        expect(env_name)
        return TaskCount(num_tasks=len(tasks.in_split(asked.split)))

    @router.post("/{env_name}/task")
    async def get_task(env_name: str, asked: AskedTask) -> OneTask:
        """One task, with its statement."""
        expect(env_name)
        return OneTask(task=task_view(tasks.at(asked.split, asked.index)))

    @router.post("/{env_name}/task_range")
    async def task_range(env_name: str, asked: AskedTasks) -> SomeTasks:
        """Some tasks, with their statements."""
        expect(env_name)
        chosen = tasks.in_split(asked.split)[asked.start : asked.stop]
        return SomeTasks(tasks=[task_view(task) for task in chosen])

    @router.post("/mcp")
    async def mcp(request: Request) -> dict[str, Any]:
        """JSON-RPC: there are no tools."""
        return _without_tools(await request.body())

    return router


def _without_tools(body: bytes) -> dict[str, Any]:
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        return _rpc_error(_PARSE_ERROR, "The request isn't JSON.", None)
    if not (isinstance(asked, dict) and isinstance(asked.get("method"), str)):
        return _rpc_error(_INVALID_REQUEST, "A request has a `method`.", None)
    number = _answerable(asked.get("id"))
    text = "This environment has no tools: send actions to /ws. For tools there is `kernelbot mcp`."
    return _rpc_error(_NO_METHOD, text, number)


def _answerable(number: object) -> str | int | None:
    """A request's id as it is answered; None for what can't be one."""
    if isinstance(number, str):
        return encodable(number)
    return number if isinstance(number, int) else None


def _rpc_error(code: int, message: str, number: str | int | None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}
