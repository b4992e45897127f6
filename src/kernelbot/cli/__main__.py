"""`python -m kernelbot.cli`, where the `kernelbot` command isn't on the path."""

from kernelbot.cli import main

if __name__ == "__main__":
    main()
