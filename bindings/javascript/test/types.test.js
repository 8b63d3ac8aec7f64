// The types are those of what the engine takes and answers: TypeScript looks at real requests and answers, written as literals, in
// which it finds each member that a type has not, and each that a type has and they do not.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { load } from "../index.js";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const COMPILER = path("../node_modules/typescript/bin/tsc");
const OPTIONS = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--module", "nodenext", "--target", "esnext", "--lib", "esnext,dom"];

const policy = (kind, name, spec, bound) => [
  { apiVersion: "admissionregistration.k8s.io/v1", kind, metadata: { name }, spec },
  { apiVersion: "admissionregistration.k8s.io/v1", kind: `${kind}Binding`, metadata: { name }, spec: { policyName: name, ...bound } },
];
const constraints = (kinds = {}) => ({
  resourceRules: [{ apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"], operations: ["CREATE"] }], ...kinds,
});
const list = (...items) => JSON.stringify({ apiVersion: "v1", kind: "List", items: items.flat() });

const VALIDATING = policy("ValidatingAdmissionPolicy", "few", {
  paramKind: { apiVersion: "v1", kind: "ConfigMap" },
  matchConstraints: constraints(),
  matchConditions: [{ name: "asked", expression: "!has(object.metadata.annotations)" }],
  variables: [{ name: "most", expression: "int(params.data.most)" }],
  validations: [
    { expression: "object.spec.replicas <= variables.most", messageExpression: "'no more than ' + string(variables.most)" },
    { expression: "namespaceObject.metadata.labels.env == 'prod'" },
  ],
  auditAnnotations: [{ key: "replicas", valueExpression: "string(object.spec.replicas)" }],
}, { validationActions: ["Deny"], paramRef: { name: "limits", namespace: "default", parameterNotFoundAction: "Deny" } });
const WARNING = policy("ValidatingAdmissionPolicy", "named", {
  matchConstraints: constraints(), validations: [{ expression: "object.metadata.name != 'web'" }, { expression: "object.spec.paused" }],
}, { validationActions: ["Warn", "Audit"] });
const MUTATING = policy("MutatingAdmissionPolicy", "stamp", {
  reinvocationPolicy: "IfNeeded", matchConstraints: constraints(),
  mutations: [{ patchType: "JSONPatch", jsonPatch: { expression: "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': 'b'}}]" } }],
});
const PARAMS = list({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "limits", namespace: "default" }, data: { most: "5" } });
const object = (replicas) => JSON.stringify({
  apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" },
  spec: {
    replicas, selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
  },
});
const file = (path, text) => ({ path, text });

const REQUESTS = [
  { policies: [file("p", list(VALIDATING, WARNING))], cluster: [file("c", PARAMS)], object: object(7), costs: true },
  { policies: [file("p", list(VALIDATING))], cluster: [file("c", PARAMS)], object: object(3), user: { name: "ann", groups: ["dev"] } },
  { policies: [file("p", list(MUTATING, WARNING))], object: object(3), operation: "CREATE", namespace: "shop", dryRun: true },
  { policies: [file("p", list(VALIDATING).replace("object.spec", "objekt.spec"))], object: object(3) },
  { policies: [file("p", list(VALIDATING[0]))], object: object(3), authorizer: "authorizer: []", withoutLints: true },
  { policies: [file("p", list(WARNING))], object: object(3), expand: "on" },
  { policies: [], object: object("many"), asGiven: false },
  { policies: [file("p", "a: [1")], object: "- 1" },
];
const EXPRESSIONS = [
  { expression: "a.map(i, i * 2)", variables: { a: [1, 2] } },
  { expression: "a +" },
  { expression: "1 / b", variablesText: "b: 0", costLimit: 100 },
  { expression: "type(objekt)", variablesText: "object: 1" },
  { expression: "a", variablesText: "- 1" },
];
const USED = `
const engine: Engine = await load(new URL("file:///pratique.wasm"));
const evaluation = engine.evaluate({ policies: [], object: "{}" });
const message: string | undefined = evaluation.status?.message;
for (const { location } of evaluation.lints) console.log(location?.start.line, message);
const failure: Error = new EngineError("ended");
// @ts-expect-error A misspelt member.
engine.evaluate({ polices: [] });
// @ts-expect-error An operation that there is not.
engine.evaluate({ operation: "PATCH" });
// @ts-expect-error An object is a text.
engine.evaluate({ object: {} });
// @ts-expect-error Without an expression.
engine.expression({});
// @ts-expect-error Two decisions that there are not are no decision.
evaluation.decision === "perhaps";
console.log(failure);
`;

test("types are those of requests and answers", { skip: !existsSync(COMPILER) && "typescript is not installed" }, async () => {
  const engine = await load();
  const literals = (name, type, values) => values.map((value, index) => `const ${name}${index}: ${type} = ${JSON.stringify(value)};\n`).join("");
  const program = [
    'import { Engine, EngineError, load, type Evaluate, type Evaluated, type Evaluation, type Expression } from "../index.js";\n',
    literals("request", "Evaluate", REQUESTS),
    literals("evaluation", "Evaluation", REQUESTS.map((request) => engine.evaluate(request))),
    literals("expression", "Expression", EXPRESSIONS),
    literals("evaluated", "Evaluated", EXPRESSIONS.map((request) => engine.expression(request))),
    USED,
  ].join("");
  const source = path("./types.ts");
  await writeFile(source, program);
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMPILER, ...OPTIONS, source], { encoding: "utf8" });
  await rm(source);
  assert.equal(status, 0, `${stdout}${stderr}`);
});
