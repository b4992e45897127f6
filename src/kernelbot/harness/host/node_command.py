"""The command `node`: one job on a scheduler's node.

What the job doesn't need isn't loaded: the harness is one file, which is compiled each time.
"""

import argparse

from kernelbot.harness.host import node
from kernelbot.protocol.process_names import ProcessName, name_process


def judge_one(arguments: argparse.Namespace) -> int:
    """What needs no link loads nothing of HTTP: that takes a tenth of a second."""
    name_process(ProcessName.NODE, keep_command=True)
    payload: node.PayloadSource = node.FilePayload(arguments.payload)
    sink: node.EventSink = node.NoSink()
    if arguments.payload_env:
        payload = node.EnvironmentPayload(arguments.payload_env)
    if arguments.payload_url_env:
        from kernelbot.harness.host.node_links import LinkPayload

        payload = LinkPayload(arguments.payload_url_env)
    if arguments.events:
        sink = node.FileSink(arguments.events)
    if arguments.events_url_env:
        from kernelbot.harness.host.node_links import link_sink

        sink = link_sink(arguments.events_url_env, arguments.reserved_cores)
    warm = None
    if arguments.warm:
        warm = node.WarmHost(arguments.warm, arguments.warm_idle_s, arguments.warm_limit_s)
    return node.run_node(
        payload,
        sink,
        node.NodeOptions(
            result=arguments.result,
            gpus=arguments.gpus,
            locks=arguments.locks,
            build_cache=arguments.build_cache,
            reserved_cores=arguments.reserved_cores,
            no_sandbox_ok=arguments.no_sandbox_ok,
            warm=warm,
        ),
    )
