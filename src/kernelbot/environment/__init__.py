"""The judge as an environment for programs that learn: OpenEnv's protocol over HTTP and WebSocket.

A task is a problem, an action a source, an observation the report on it. One judge of
`kernelbot.library` serves all sessions.
"""
