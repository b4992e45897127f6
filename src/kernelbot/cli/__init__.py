"""The terminal client: talks HTTP, except for the commands that need no server."""


def main() -> None:
    """The `kernelbot` command."""
    from kernelbot.cli.app import run  # here, so that importing the package costs nothing

    run()
