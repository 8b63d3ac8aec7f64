// The page: inputs, the engine in a worker, results.

import { Editor } from "./editor.js";
import { Evaluator } from "./evaluator.js";
import { element } from "./dom.js";
import { requestForm } from "./form.js";
import { showExpression, showPolicies } from "./results.js";
import { decode, encode } from "./share.js";
import { Tabs } from "./tabs.js";

/** How long after the last key an evaluation begins, in milliseconds. */
const PAUSE = 120;

const TEXTS = {
  policies: { title: "Policies", hint: "Policies and bindings, as YAML. Names ending in .static.k8s.io are static manifests." },
  expression: { title: "Expression", hint: "A CEL expression, with all functions of an API server.", language: "cel" },
  object: { title: "Object", hint: "The object of the request; for a deletion, the one that is deleted." },
  oldObject: { title: "Old object", hint: "The stored object, for an update." },
  params: { title: "Params", hint: "Params, and other objects of the cluster: definitions, roles and their bindings, or a whole snapshot." },
  namespace: { title: "Namespace", hint: "The namespace of the request. Without it only its name is known." },
  authorizer: { title: "Authorizer", hint: "Rules for expressions with authorizer: a list `authorizer` as in suites of tests." },
  variables: { title: "Variables", hint: "The variables of the expression: a mapping from names to values." },
};
const MODES = { policies: ["object", "oldObject", "params", "namespace", "authorizer", "request"], expression: ["variables"] };

/** The evaluation that waits for the next key. */
let waiting;
/** Whether there are inputs; without, nothing is evaluated. */
let started = false;
/** Whether a decision has been shown. Until then it comes without lints and costs, and without what explains it, all of which
 * take longer than it. */
let decided = false;
/** Shows the rest of the latest answer. */
let showRest = () => {};

const editors = {};
for (const [name, text] of Object.entries(TEXTS)) {
  editors[name] = new Editor(name, text.title, text.hint, text.language ?? "yaml", changed);
}
const form = requestForm(changed);
const boxes = { ...Object.fromEntries(Object.entries(editors).map(([name, editor]) => [name, editor.box])), request: form.box };
const titles = { ...Object.fromEntries(Object.entries(TEXTS).map(([name, text]) => [name, text.title])), request: "Request" };

const upper = document.getElementById("upper");
const lower = document.getElementById("lower");
const modes = new Tabs(document.getElementById("modes"), upper, boxes, (mode) => {
  parts.show(MODES[mode].map((name) => [name, titles[name]]));
  changed();
});
const parts = new Tabs(document.getElementById("parts"), lower, boxes, () => {});
modes.show(Object.keys(MODES).map((name) => [name, titles[name]]));

const evaluator = new Evaluator((answer, milliseconds) => {
  const seen = { answer, milliseconds, locate };
  const show = modes.current === "expression" ? showExpression : showPolicies;
  const showDetails = show(seen, document.getElementById("decision"), document.getElementById("details"));
  showRest = () => {
    showRest = () => {};
    showDetails();
    mark(answer);
  };
  if (decided) {
    showRest();
  } else {
    decided = true;
    performance.mark("first decision");
    // While the decision is seen, and the worker evaluates again.
    setTimeout(() => showRest());
    evaluate();
  }
  document.body.dataset.evaluated = String(Number(document.body.dataset.evaluated ?? 0) + 1);
}, (version) => {
  document.getElementById("version").textContent = `Version ${version}`;
});

function changed() {
  if (!started) {
    return;
  }
  clearTimeout(waiting);
  document.body.dataset.pending = "yes";
  waiting = setTimeout(evaluate, PAUSE);
}

function evaluate() {
  clearTimeout(waiting);
  delete document.body.dataset.pending;
  evaluator.ask(modes.current === "expression" ? expressionRequest() : policyRequest());
}

function expressionRequest() {
  return { expression: { expression: editors.expression.text, variablesText: editors.variables.text } };
}

function policyRequest() {
  const file = (name) => ({ path: name, text: editors[name].text });
  const optional = (text) => (text.trim() === "" ? undefined : text);
  return {
    evaluate: {
      policies: [file("policies")],
      cluster: ["params", "namespace"].map(file),
      object: editors.object.text,
      oldObject: optional(editors.oldObject.text),
      authorizer: optional(editors.authorizer.text),
      costs: decided,
      withoutLints: !decided,
      ...form.request(),
    },
  };
}

/** Marks problems and lints in the editors. */
function mark(answer) {
  const all = [...(answer.problems ?? []), ...(answer.lints ?? []), ...(answer.issues ?? []).map(ofExpression)];
  for (const [name, editor] of Object.entries(editors)) {
    const found = all.filter((finding) => finding.location?.file === name);
    editor.mark(found);
    parts.flag(name, found.some((finding) => finding.severity === "error"));
  }
}

function ofExpression(issue) {
  const start = { line: issue.line, column: issue.column };
  return { severity: "error", message: issue.message, location: { file: "expression", start, end: { ...start, column: issue.column + 1 } } };
}

/** Selects a position in an editor. */
function locate(place) {
  modes.select(place.file === "expression" ? "expression" : modes.current);
  parts.select(place.file);
  editors[place.file]?.go(place);
}

function state() {
  const texts = Object.fromEntries(Object.entries(editors).map(([name, editor]) => [name, editor.text]));
  return { mode: modes.current, ...texts, request: form.state() };
}

function restore(given) {
  for (const [name, editor] of Object.entries(editors)) {
    editor.text = typeof given[name] === "string" ? given[name] : "";
  }
  form.restore(given.request ?? {});
  modes.select(given.mode === "expression" ? "expression" : "policies");
  started = true;
  evaluate();
}

const shared = document.getElementById("shared");
document.getElementById("share").addEventListener("click", async () => {
  history.replaceState(null, "", `#${await encode(state())}`);
  try {
    await navigator.clipboard.writeText(location.href);
    shared.textContent = "Copied";
  } catch {
    shared.textContent = "It is in the address bar";
  }
  setTimeout(() => { shared.textContent = ""; }, 3000);
});

async function examples() {
  const listed = await (await fetch("examples.json")).json();
  const choice = document.getElementById("example");
  for (const example of listed) {
    choice.append(element("option", { value: example.title }, example.title));
  }
  choice.addEventListener("change", () => {
    const chosen = listed.find((example) => example.title === choice.value);
    if (chosen) {
      history.replaceState(null, "", location.pathname + location.search);
      restore(chosen);
    }
  });
  return listed;
}

async function start() {
  const listed = examples();
  const given = location.hash.length > 1 ? await decode(location.hash.slice(1)).catch(() => null) : null;
  if (given === null && location.hash.length > 1) {
    shared.textContent = "The link cannot be read";
  }
  restore(given ?? (await listed)[0]);
  if (given === null) {
    document.getElementById("example").value = (await listed)[0].title;
  }
}

window.addEventListener("hashchange", async () => {
  const given = await decode(location.hash.slice(1)).catch(() => null);
  if (given) {
    restore(given);
  }
});

start();
