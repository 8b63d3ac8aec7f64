"""Expressions by themselves."""

import pytest

from pratique import cel


def test_programs_are_compiled_once() -> None:
    program = cel.Program("items.map(i, i * 2).filter(i, i > least)", ["items", "least"])
    assert program.type == "list(int)"
    assert program.evaluate({"items": [1, 2, 3], "least": 2}) == [4, 6]
    assert program.evaluate({"items": [], "least": 2}) == []


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2", 3),
        ("1.5 * 2.0", 3.0),
        ("'a' + 'ö'", "aö"),
        ("{'a': [true, false]}", {"a": [True, False]}),
        ("b'\\x00'", "AA=="),
        ("duration('90s')", "90s"),
        ("timestamp('2026-01-02T03:04:05Z')", "2026-01-02T03:04:05Z"),
        ("ip('::1').isLoopback()", True),
    ],
)
def test_values(expression: str, value: object) -> None:
    assert cel.Program(expression).evaluate() == value


def test_what_does_not_compile() -> None:
    with pytest.raises(cel.CompileError, match="undeclared reference to 'y'"):
        cel.Program("x + y", ["x"])


def test_what_has_no_value() -> None:
    program = cel.Program("x.a", ["x"])
    with pytest.raises(cel.EvaluationError, match="no such key: a"):
        program.evaluate({"x": {}})
    with pytest.raises(cel.EvaluationError, match='undeclared variable "z"'):
        program.evaluate({"z": 1})
    with pytest.raises(cel.EvaluationError, match="cost limit"):
        cel.Program("lists.range(1000).map(i, i).size()").evaluate(cost_limit=100)


def test_nesting_ends_with_an_error() -> None:
    with pytest.raises(cel.CompileError):
        cel.Program("(" * 100_000)


def test_explains() -> None:
    evaluated = cel.explain("x.a.size() == 2 && x.a[0] == 2", {"x": {"a": [1, 2]}})
    assert (evaluated["type"], evaluated["value"]) == ("bool", False)
    assert evaluated["explanation"]["because"] == "x.a[0] == 2"
    assert evaluated["cost"] > 0
    assert cel.explain("a +")["issues"][0]["line"] == 1
