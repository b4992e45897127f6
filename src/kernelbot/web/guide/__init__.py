"""The documentation, served by the platform that it describes."""
