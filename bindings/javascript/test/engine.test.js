import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";

import { Engine, EngineError, load } from "../index.js";

const engine = await load();

const POLICY = `
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
`;
const request = (replicas) => ({
  policies: [{ path: "policy.yaml", text: POLICY }],
  object: JSON.stringify({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, spec: { replicas, selector: { matchLabels: { a: "b" } }, template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } } } }),
});

test("denies with the message of a server", () => {
  const { decision, status, explanation } = engine.evaluate(request(7));
  assert.equal(decision, "denied");
  assert.equal(status.code, 422);
  assert.match(status.message, /^deployments\.apps "web" is forbidden: .* denied request: no more than 5 replicas$/);
  const [expression] = explanation.policies[0].bindings[0].rounds[0].expressions;
  assert.equal(expression.inner[0].value, "7");
});

test("allows", () => {
  assert.equal(engine.evaluate(request(3)).decision, "allowed");
});

test("tells what does not load, and where", () => {
  const broken = { ...request(3), policies: [{ path: "policy.yaml", text: POLICY.replace("object.", "objekt.") }] };
  const { decision, problems } = engine.evaluate(broken);
  assert.equal(decision, undefined);
  assert.equal(problems[0].location.file, "policy.yaml");
  assert.equal(problems[0].location.start.line, 8);
});

test("evaluates expressions", () => {
  const evaluated = engine.expression({ expression: "a.map(i, i * 2)", variables: { a: [1, 2] } });
  assert.deepEqual(evaluated.value, [2, 4]);
  assert.equal(evaluated.type, "list(int)");
  assert.ok(evaluated.cost > 0);
  assert.equal(engine.expression({ expression: "a +" }).issues[0].line, 1);
});

test("throws at what is no request", () => {
  assert.throws(() => engine.evaluate({ polices: [] }), (error) => error instanceof EngineError && /unknown field/.test(error.message));
});

test("answers after a trap", () => {
  // Too many brackets for any parser's stack are refused, and a length that no memory has is a trap.
  const deep = engine.expression({ expression: "(".repeat(100_000) });
  assert.ok(deep.compileError);
  assert.throws(() => engine.answerBytes({ length: 2 ** 32 - 1 }), EngineError);
  assert.equal(engine.evaluate(request(7)).decision, "denied");
});

test("answers many requests, each by itself", () => {
  for (let i = 0; i < 200; i += 1) {
    assert.equal(engine.evaluate(request(i)).decision, i > 5 ? "denied" : "allowed");
  }
});

test("is loaded from bytes and modules", async () => {
  const bytes = await readFile(new URL("../pratique.wasm", import.meta.url));
  assert.equal((await load(bytes)).version(), engine.version());
  assert.equal(new Engine(await WebAssembly.compile(bytes)).version(), engine.version());
});

test("the example of the README runs", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const [, example] = readme.match(/```js\n([\s\S]*?)```/);
  const lines = [];
  const body = example.replace(/^import .*$/m, "");
  await new (async () => {}).constructor("load", "console", body)(load, { log: (...texts) => lines.push(texts) });
  assert.equal(lines[0][0], "denied");
  assert.deepEqual(lines[1][0], ["proxy:latest"]);
});

test("is a server of a release", () => {
  const bundle = JSON.stringify({ apiVersion: "certificates.k8s.io/v1", kind: "ClusterTrustBundle", metadata: { name: "b" } });
  const older = engine.evaluate({ ...request(3), object: bundle, kubernetesVersion: "1.36" });
  assert.equal(older.status.code, 404);
  const unknown = engine.evaluate({ ...request(3), kubernetesVersion: "1.2" });
  assert.match(unknown.problems[0].message, /^Kubernetes 1\.2 is not known; known are /);
});
