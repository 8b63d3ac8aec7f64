"""Expressions in the environment of an API server: its functions, its messages and its costs."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from pratique._engine import CompiledProgram, CompileError, EvaluationError
from pratique._request import ask
from pratique._types import Evaluated, Issue

__all__ = [
    "COST_LIMIT",
    "CompileError",
    "Evaluated",
    "EvaluationError",
    "Issue",
    "Program",
    "explain",
]

COST_LIMIT = 1_000_000
"""The cost limit of one expression of a policy."""


class Program:
    """An expression that is compiled once. It does not change, and threads can share it."""

    __slots__ = ("_compiled", "expression")

    expression: str

    def __init__(self, expression: str, variables: Iterable[str] = ()) -> None:
        """Compiles an expression that may use some variables, whose type is `dyn`.

        Raises CompileError, with the message of an API server.
        """
        self.expression = expression
        self._compiled = CompiledProgram(expression, list(variables))

    @property
    def type(self) -> str:
        """The type of its value, such as `bool` or `list(string)`."""
        return self._compiled.result_type

    def evaluate(self, variables: Mapping[str, Any] | None = None, *, cost_limit: int = COST_LIMIT) -> Any:
        """Its value with these variables, which are what JSON can have.

        Bytes are base64; times, durations, quantities and other values that JSON does not have are texts.

        Raises EvaluationError, with the message of an API server.
        """
        given = json.dumps({} if variables is None else variables).encode()
        return json.loads(self._compiled.evaluate(given, cost_limit))

    def __repr__(self) -> str:
        return f"Program({self.expression!r})"


def explain(
    expression: str, variables: Mapping[str, Any] | None = None, *, cost_limit: int = COST_LIMIT
) -> Evaluated:
    """An expression with its value, its type, what it cost, and the values of its subexpressions; or why it has none."""
    request = {"expression": expression, "variables": dict(variables or {}), "costLimit": cost_limit}
    return cast(Evaluated, ask({"expression": request}))
