"""Requests to the engine, which are JSON."""

import json
from typing import Any

from pratique import _engine


class EngineError(Exception):
    """The engine could not answer: the request is invalid or too large."""


def ask(request: dict[str, Any]) -> Any:
    """The answer to a request; its members without a value are left out."""
    answer = json.loads(_engine.answer(json.dumps(request).encode()))
    if "fault" in answer:
        raise EngineError(answer["fault"])
    return answer
