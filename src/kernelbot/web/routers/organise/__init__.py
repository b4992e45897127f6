"""Pages for those who organise boards, and for admins."""

from fastapi import APIRouter

from kernelbot.web.routers.organise import boards, creating

ROUTERS: tuple[APIRouter, ...] = (creating.router, boards.router)
"""Each by itself; in this order, since paths are tried in it."""
