"""Buildkite: its REST routes over HTTP, a storage host of its own, and agents that really execute
the step of `deploy/buildkite/pipeline.yml`, with a program that stands in for Docker."""

from tests.fakes.buildkite.server import (
    ORGANIZATION,
    PIPELINE,
    TOKEN,
    FakeBuildkite,
    fake_buildkite,
)

__all__ = ["ORGANIZATION", "PIPELINE", "TOKEN", "FakeBuildkite", "fake_buildkite"]
