"""Boards, devices, the caller's account: one method per route."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from kernelbot.client.calls import Request, ask, asked_whether_ready, described, part

if TYPE_CHECKING:
    from kernelbot.accounts.model import Me, NewAccount, Role
    from kernelbot.boards.answers import BoardList
    from kernelbot.boards.model import NamedBoard, ProblemDefinition, Statement, Visibility
    from kernelbot.platform.health.schemas import ReadyView
    from kernelbot.runs.devices.schemas import DeviceList


class BoardCalls:
    """Part of the clients."""

    @described
    def boards(self) -> Request[BoardList]:
        """Every board that the caller may see."""
        from kernelbot.boards.answers import BoardList

        return ask(BoardList, "GET", "/boards")

    @described
    def board(self, name: str) -> Request[NamedBoard]:
        """One board."""
        from kernelbot.boards.model import NamedBoard

        return ask(NamedBoard, "GET", f"/boards/{part(name)}")

    @described
    def problem(self, board: str) -> Request[Statement]:
        """A board's statement and starter files."""
        from kernelbot.boards.model import Statement

        return ask(Statement, "GET", f"/boards/{part(board)}/problem")

    @described
    def create_board(
        self,
        definition: ProblemDefinition,
        *,
        name: str,
        deadline: datetime | None = None,
        visibility: Visibility | None = None,
        devices: Sequence[str] | None = None,
    ) -> Request[NamedBoard]:
        """Open a board. `visibility` None: everyone sees it; `devices` None: those the problem
        names."""
        from kernelbot.boards.model import NamedBoard, Visibility
        from kernelbot.boards.schemas import NewBoard, problem_to_wire

        body = NewBoard(
            name=name,
            problem=problem_to_wire(definition),
            deadline=deadline,
            visibility=visibility or Visibility.PUBLIC,
            devices=None if devices is None else tuple(devices),
        )
        return ask(NamedBoard, "POST", "/boards", body=body)

    @described
    def me(self) -> Request[Me]:
        """The account that the token belongs to, and when the token ends."""
        from kernelbot.accounts.model import Me

        return ask(Me, "GET", "/users/me")

    @described
    def create_user(self, name: str, role: Role | None = None) -> Request[NewAccount]:
        """A new account with its token. `role` None: a competitor's."""
        from kernelbot.accounts.model import NewAccount, Role
        from kernelbot.accounts.schemas import NewUser

        body = NewUser(name=name, role=role or Role.COMPETITOR)
        return ask(NewAccount, "POST", "/users", body=body)

    @described
    def devices(self) -> Request[DeviceList]:
        """Every configured device."""
        from kernelbot.runs.devices.schemas import DeviceList

        return ask(DeviceList, "GET", "/devices")

    @described
    def ready(self) -> Request[ReadyView]:
        """Whether the server answers and accepts submissions, and whether it judges them; doesn't
        raise if it doesn't."""
        return asked_whether_ready()
