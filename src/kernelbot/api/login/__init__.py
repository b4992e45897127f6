"""Logging in with a browser: a few plain pages below `/auth`."""

from kernelbot.api.login.routes import router

__all__ = ["router"]
