"""All that runs in the sandbox: the forker, runners, cages, ranks and commands."""
