"""Policies: decisions, messages and what is told besides."""

import json
import threading
from typing import Any

import pytest

import pratique

POLICY = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: few}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE]}]
  validations: [{expression: object.spec.replicas <= 5, message: no more than 5 replicas}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: few}
spec: {policyName: few, validationActions: [Deny]}
"""


def deployment(replicas: int) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "web"}]},
            },
        },
    }


def test_denies_with_the_message_of_a_server() -> None:
    evaluation = pratique.evaluate(POLICY, object=deployment(7))
    assert evaluation["decision"] == "denied"
    assert evaluation["status"]["code"] == 422
    message = evaluation["status"]["message"]
    assert message.startswith('deployments.apps "web" is forbidden: ')
    assert message.endswith("denied request: no more than 5 replicas")
    binding = evaluation["explanation"]["policies"][0]["bindings"][0]
    assert binding["rounds"][0]["expressions"][0]["inner"][0]["value"] == "7"


def test_allows() -> None:
    assert pratique.evaluate(POLICY, object=deployment(3))["decision"] == "allowed"


def test_takes_texts_and_named_texts() -> None:
    text = json.dumps(deployment(7))
    for policies in (POLICY, [POLICY], [pratique.File(path="few.yaml", text=POLICY)]):
        assert pratique.evaluate(policies, object=text)["decision"] == "denied"


def test_tells_what_does_not_load_and_where() -> None:
    broken = POLICY.replace("object.", "objekt.")
    named = pratique.evaluate([{"path": "policy.yaml", "text": broken}], object=deployment(3))
    assert "decision" not in named
    location = named["problems"][0]["location"]
    assert (location["file"], location["start"]["line"]) == ("policy.yaml", 8)
    assert pratique.evaluate(broken)["problems"][0]["location"]["file"] == "policies[0]"


def test_has_lints_and_costs() -> None:
    policy, _ = POLICY.split("---")
    evaluation = pratique.evaluate(policy, costs=True)
    assert [lint["rule"] for lint in evaluation["lints"]] == ["unbound-policy"]
    assert evaluation["costs"][0]["max"] > 0
    assert pratique.evaluate(policy, lints=False)["lints"] == []
    assert "decision" not in evaluation


def test_what_is_not_known_is_undecided() -> None:
    policy = POLICY.replace("object.spec.replicas <= 5", "authorizer.path('/healthz').check('get').allowed()")
    evaluation = pratique.evaluate(policy, object=deployment(3))
    assert evaluation["decision"] == "undecided"
    assert evaluation["undecided"]
    rules = "authorizer: [{verbs: [get], nonResourceURLs: [/healthz], allow: true}]"
    assert pratique.evaluate(policy, object=deployment(3), authorizer=rules)["decision"] == "allowed"


def test_operations_users_and_namespaces() -> None:
    policy = POLICY.replace("[CREATE]", "[UPDATE]").replace(
        "object.spec.replicas <= 5",
        "oldObject.spec.replicas == 1 && request.userInfo.username == 'ann' && namespaceObject.metadata.name == 'shop'",
    )
    evaluation = pratique.evaluate(
        policy,
        object=deployment(2),
        old_object=deployment(1),
        namespace="shop",
        user={"name": "ann", "groups": ["crew"]},
        cluster="{apiVersion: v1, kind: Namespace, metadata: {name: shop}}",
    )
    assert evaluation["decision"] == "allowed", evaluation
    assert evaluation["request"]["operation"] == "UPDATE"
    assert "crew" in evaluation["request"]["groups"]


def test_what_is_no_request_raises() -> None:
    with pytest.raises(pratique.EngineError, match="unknown variant"):
        pratique.evaluate(POLICY, object=deployment(1), operation="PATCH")  # type: ignore[arg-type]


def test_threads_evaluate_at_once() -> None:
    decisions: list[str] = []

    def run(replicas: int) -> None:
        for _ in range(20):
            decisions.append(pratique.evaluate(POLICY, object=deployment(replicas))["decision"])

    threads = [threading.Thread(target=run, args=(replicas,)) for replicas in (3, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(decisions) == ["allowed"] * 20 + ["denied"] * 20

def test_the_server_is_of_a_release() -> None:
    bundle = {"apiVersion": "certificates.k8s.io/v1", "kind": "ClusterTrustBundle", "metadata": {"name": "b"}}
    newest = pratique.evaluate(POLICY, object=bundle)
    older = pratique.evaluate(POLICY, object=bundle, kubernetes_version="1.36")
    assert older["status"]["code"] == 404
    assert newest.get("status", {}).get("code") != 404
    unknown = pratique.evaluate(POLICY, object=bundle, kubernetes_version="1.2")
    assert unknown["problems"][0]["message"].startswith("Kubernetes 1.2 is not known; known are ")
