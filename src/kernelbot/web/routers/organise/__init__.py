"""Pages for those who organise boards, and for admins."""

from fastapi import APIRouter

from kernelbot.web.routers.organise import (
    audit,
    boards,
    creating,
    invites,
    people,
    queue,
    rejudges,
    reviews,
    statistics,
    submissions,
    syncing,
    webhooks,
)

ROUTERS: tuple[APIRouter, ...] = (
    creating.router,
    boards.router,
    invites.router,
    webhooks.router,
    rejudges.router,
    submissions.router,
    reviews.router,
    queue.router,
    people.router,
    statistics.router,
    syncing.router,
    syncing.uploads,
    audit.router,
)
"""Each by itself: a router of routers would match the path twice."""
