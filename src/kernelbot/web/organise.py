"""Pages for those who organise boards, and for admins."""

from fastapi import APIRouter

from kernelbot.accounts.pages import people
from kernelbot.boards.invites import pages as invites
from kernelbot.boards.pages import creating
from kernelbot.boards.pages import organising as boards
from kernelbot.boards.sync import pages as syncing
from kernelbot.moderation.audit import pages as audit
from kernelbot.moderation.rejudges import pages as rejudges
from kernelbot.moderation.reviews import pages as reviews
from kernelbot.platform.statistics import pages as statistics
from kernelbot.runs.queue import pages as queue
from kernelbot.submissions.pages import organising as submissions
from kernelbot.webhooks import pages as webhooks

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
