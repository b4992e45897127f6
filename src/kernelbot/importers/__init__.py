"""Other suites, each a folder that is found by its entry point; the core's code names none."""
