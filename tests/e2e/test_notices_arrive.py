"""From an alarm to a chat on the deployed stack: CloudWatch, topic, notifier, webhook; the address comes from SSM, as the role allows."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from brandvane.cli.local_stack import session_of
from e2e.deployed import SLACK_PARAMETER, DeployedStack, wait_for


class Chat(ThreadingHTTPServer):
    """Takes messages as Slack does."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        chat = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                """One message."""
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                chat.texts.append(body["text"])
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
                """Say nothing."""

        super().__init__(("127.0.0.1", 0), Handler)


@pytest.fixture
def chat(deployed: DeployedStack) -> Iterator[Chat]:
    """A chat whose address lies where the stack looks for it."""
    server = Chat()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/services/T0/B0/hook"
    deployed.clients.ssm.put_parameter(Name=SLACK_PARAMETER, Value=address, Type="SecureString", Overwrite=True)
    yield server
    server.shutdown()
    server.server_close()


def test_an_alarm_that_fires_is_read_in_the_chat(deployed: DeployedStack, chat: Chat) -> None:
    stack = deployed.state.stack
    watch = session_of(deployed.state).client("cloudwatch", endpoint_url=deployed.state.endpoint)
    reason = "Threshold Crossed: 1 datapoint [1.0] was greater than the threshold (0.0) <!channel>"
    watch.set_alarm_state(AlarmName=f"{stack}-dead-letters", StateValue="ALARM", StateReason=reason)

    wait_for(lambda: any("Dead letters" in text for text in chat.texts), "the message is in the chat")

    text = next(text for text in chat.texts if "Dead letters" in text)
    assert text.splitlines()[0] == "*[P0] Dead letters*"
    assert f"brandvane dead-letters list --stack {stack}" in text
    assert "&lt;!channel&gt;" in text
    assert "docs/runbook.md#dead-letters" in text
