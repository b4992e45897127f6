"""What the server of these tests says."""

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

Handle = Callable[[BaseHTTPRequestHandler], None]
END = b"event: end\ndata: {}\n\n"


def answer(handler: BaseHTTPRequestHandler, status: int, body: bytes) -> None:
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def event(number: int) -> bytes:
    data = {
        "id": number,
        "submission_id": 7,
        "run_id": 1,
        "device": "CPU",
        "secret": False,
        "kind": "case",
        "data": {"index": number},
        "created_at": "2026-01-01T00:00:00Z",
    }
    return f"id: {number}\nevent: case\ndata: {json.dumps(data)}\n\n".encode()
