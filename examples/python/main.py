"""A task in, an answer out: the Messages API with Pagehand as the browser. Python's standard library is all it needs.

    python3 main.py [flags of pagehand exec] TASK

The key and the API's address come from ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL.
"""

import json
import os
import subprocess
import sys
import urllib.request
from typing import Any, Dict, List

Message = Dict[str, Any]

MOST_TURNS = 100


class Browser:
    """Pagehand in a child process: a line of JSON with what the model asked, a line with the results."""

    def __init__(self, flags: List[str]) -> None:
        self._process = subprocess.Popen(
            ["pagehand", "exec", "--lines", *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        """Ends Pagehand, and with it the browser."""
        self._process.communicate()

    def run(self, reply: Message) -> Message:
        """Runs the browser calls of a reply and returns the user message with their results."""
        self._process.stdin.write(json.dumps(reply) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("pagehand exec has ended")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])
        return answer


def ask(messages: List[Message]) -> Message:
    """Sends the conversation to the API and returns its reply."""
    request = urllib.request.Request(
        os.environ.get("ANTHROPIC_BASE_URL", "https://api.anthropic.com") + "/v1/messages",
        headers={
            "content-type": "application/json",
            "x-api-key": os.environ["ANTHROPIC_API_KEY"],
            "anthropic-version": "2023-06-01",
        },
        data=json.dumps(
            {
                "model": os.environ.get("ANTHROPIC_MODEL", "claude-sonnet-5"),
                "max_tokens": 4096,
                "tools": [{"type": "browser_toolset_20260801"}],
                "messages": messages,
            }
        ).encode(),
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def show(reply: Message) -> None:
    """Prints what the model says, and on standard error what it calls."""
    for block in reply["content"]:
        if block["type"] == "text":
            print(block["text"], flush=True)
        elif block["type"] == "tool_use":
            print(f"  {block['name']} {json.dumps(block['input'])}", file=sys.stderr)


def main(flags: List[str], task: str) -> None:
    messages = [{"role": "user", "content": task}]
    with Browser(flags) as browser:
        for _ in range(MOST_TURNS):
            reply = ask(messages)
            show(reply)
            if reply["stop_reason"] != "tool_use":
                return
            messages += [{"role": "assistant", "content": reply["content"]}, browser.run(reply)]
    sys.exit(f"No answer after {MOST_TURNS} turns.")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("Usage: python3 main.py [flags of pagehand exec] TASK")
    main(sys.argv[1:-1], sys.argv[-1])
