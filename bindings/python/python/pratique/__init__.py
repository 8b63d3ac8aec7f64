"""Admission policies of Kubernetes and CEL, with the decisions and messages of kube-apiserver.

`evaluate` evaluates policies for an object or a request, `cel` has expressions by themselves.
"""

from pratique import cel
from pratique._engine import __version__
from pratique._evaluate import EngineError, evaluate
from pratique._types import (
    Decision,
    Evaluation,
    ExplainedExpression,
    File,
    Finding,
    Place,
    Point,
    Status,
    User,
)

__all__ = [
    "Decision",
    "EngineError",
    "Evaluation",
    "ExplainedExpression",
    "File",
    "Finding",
    "Place",
    "Point",
    "Status",
    "User",
    "__version__",
    "cel",
    "evaluate",
]
