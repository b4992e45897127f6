"""The door for agents: the Model Context Protocol's tools over the typed client."""
