"""Policies evaluated for an object or a request."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast

from pratique._request import EngineError, ask
from pratique._types import Evaluation, File, User

__all__ = ["EngineError", "evaluate"]

Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]
Text = str | Mapping[str, Any]


def evaluate(
    policies: str | Iterable[str | File] = (),
    *,
    stored: Iterable[Mapping[str, Any]] = (),
    cluster: str | Iterable[str | File] = (),
    object: Text | None = None,
    old_object: Text | None = None,
    request: Mapping[str, Any] | None = None,
    operation: Operation | None = None,
    namespace: str | None = None,
    name: str | None = None,
    resource: str | None = None,
    subresource: str = "",
    user: User | None = None,
    dry_run: bool = False,
    authorizer: str | None = None,
    kubernetes_version: str | None = None,
    bind: bool = False,
    as_given: bool = False,
    costs: bool = False,
    lints: bool = True,
) -> Evaluation:
    """Evaluates policies as a server does, or only loads them where there is neither an object nor a request.

    A request that depends on something that was not given is `undecided`, never allowed.

    policies: policies and bindings as texts in YAML or JSON, by themselves or with the path that locations name.
    stored: policies and bindings as an API server has stored them, defaulted; they are not validated again.
    cluster: other objects of the cluster as texts: namespaces, params, definitions, roles and their bindings.
    object: the object as a text or a mapping; for DELETE, the one that is deleted. An AdmissionReview is taken as it is.
    old_object: the stored object, for an update.
    request: a whole request, as `admission.k8s.io/v1` has it, instead of an object and what follows here.
    operation: by default UPDATE if there is an old object, else CREATE.
    namespace: the namespace of an object without one; `default` by default.
    name: the name in the request, if it differs from the object's.
    resource: the resource of an object whose kind is not known.
    user: who sends the request: `kubernetes-admin` by default.
    authorizer: rules of authorization, a text with a field `authorizer` as in a suite; what they do not decide, roles in
        `cluster` do. Without both, what depends on the authorizer is undecided.
    kubernetes_version: the release of Kubernetes that the server is of, such as `1.37`: by default that of a snapshot in `cluster`,
        or else the newest known one that is out.
    bind: whether policies without a binding are evaluated as if bound.
    as_given: whether objects stay as they are, instead of being decoded, defaulted and prepared as an API server does.
    costs: whether the worst-case cost of each expression is estimated.
    lints: whether policies are linted, which takes longer than a decision.
    """
    given: dict[str, Any] = {
        "policies": _files("policies", policies),
        "stored": list(stored),
        "cluster": _files("cluster", cluster),
        "object": _text(object),
        "oldObject": _text(old_object),
        "request": request,
        "operation": operation,
        "namespace": namespace,
        "name": name,
        "resource": resource,
        "subresource": subresource,
        "user": user,
        "dryRun": dry_run,
        "authorizer": authorizer,
        "kubernetesVersion": kubernetes_version,
        "bind": bind,
        "asGiven": as_given,
        "costs": costs,
        "withoutLints": not lints,
    }
    present = {name: value for name, value in given.items() if value is not None}
    return cast(Evaluation, ask({"evaluate": present}))


def _files(name: str, given: str | Iterable[str | File]) -> list[File]:
    """Texts with names. Those without one are numbered."""
    texts = [given] if isinstance(given, str) else given
    return [
        {"path": f"{name}[{index}]", "text": text} if isinstance(text, str) else text
        for index, text in enumerate(texts)
    ]


def _text(given: Text | None) -> str | None:
    return given if given is None or isinstance(given, str) else json.dumps(given)
