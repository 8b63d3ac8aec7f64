"""The answers of the engine."""

from typing import Any, Literal, NotRequired, TypedDict

Decision = Literal["allowed", "denied", "error", "undecided"]


class File(TypedDict):
    """A text with a name, which locations refer to."""

    path: str
    text: str


class User(TypedDict):
    """The user of a request."""

    name: str
    groups: NotRequired[list[str]]
    uid: NotRequired[str]
    extra: NotRequired[dict[str, list[str]]]


class Point(TypedDict):
    """Line and column from 1, the column in characters; the offset in bytes from 0."""

    line: int
    column: int
    offset: int


class Place(TypedDict):
    """A part of a text. `file` is its path, or the member of the request, such as `object`; `document` counts from 0."""

    file: str
    document: int
    start: Point
    end: Point


class Finding(TypedDict):
    """A problem or a warning."""

    rule: str
    severity: Literal["error", "warning"]
    message: str
    summary: NotRequired[str]
    field: NotRequired[str]
    object: NotRequired[tuple[str, str]]
    location: NotRequired[Place]
    help: NotRequired[str]


class Status(TypedDict, total=False):
    """The status of a request that is not allowed."""

    status: str
    code: int
    reason: str
    message: str
    details: dict[str, Any]


class ExplainedExpression(TypedDict):
    """An expression with its value and those of its subexpressions."""

    place: str
    name: NotRequired[str]
    expression: str
    value: NotRequired[str]
    error: NotRequired[str]
    cost: int
    because: NotRequired[str]
    inner: NotRequired[list[dict[str, Any]]]
    at: NotRequired[Place]
    location: NotRequired[str]
    diagram: NotRequired[list[dict[str, str]]]


class Evaluation(TypedDict):
    """Problems of the inputs, or the decision if there are none."""

    problems: list[Finding]
    lints: list[Finding]
    notEvaluated: list[str]
    notes: list[str]
    costs: NotRequired[list[dict[str, Any]]]
    decision: NotRequired[Decision]
    status: NotRequired[Status]
    help: NotRequired[str]
    undecided: NotRequired[list[str]]
    warnings: NotRequired[list[str]]
    auditAnnotations: NotRequired[dict[str, str]]
    decisions: NotRequired[list[dict[str, Any]]]
    defaults: NotRequired[list[dict[str, Any]]]
    mutations: NotRequired[list[dict[str, Any]]]
    object: NotRequired[dict[str, Any]]
    yaml: NotRequired[str]
    diff: NotRequired[list[dict[str, str]]]
    patch: NotRequired[list[dict[str, Any]]]
    explanation: NotRequired[dict[str, Any]]
    request: NotRequired[dict[str, Any]]


class Issue(TypedDict):
    """A fault in an expression: line and column from 1."""

    line: int
    column: int
    message: str
    meant: NotRequired[str]


class Evaluated(TypedDict, total=False):
    """An expression with its value, or why it has none."""

    problems: list[Finding]
    compileError: str
    issues: list[Issue]
    type: str
    value: Any
    text: str
    error: str
    cost: int
    explanation: ExplainedExpression
    diagram: list[dict[str, str]]
