// The answer of the engine, as elements.

import { element, ruleLink } from "./dom.js";

const DECISIONS = { allowed: "Allowed", denied: "Denied", error: "Refused by an error", undecided: "Undecided" };

/** Shows the decision of policies; returns a function that shows the rest of the answer, which takes longer. */
export function showPolicies({ answer, milliseconds, locate }, head, body) {
  if (answer.fault !== undefined) {
    return fault(answer.fault, head, body);
  }
  const { problems, lints } = answer;
  const counts = [count(problems, "problem"), count(lints, "warning")].filter(Boolean);
  head.replaceChildren(banner(answer, milliseconds, counts));
  return () => details(answer, locate, body);
}

function details(answer, locate, body) {
  const { problems, lints } = answer;
  const open = remembered(body);
  body.replaceChildren(...[
    findings("Problems", problems, locate),
    findings("Why the object is invalid", answer.causes, locate),
    unfinished(answer),
    decisions(answer),
    pods(answer.pods, locate),
    list("Warnings for the user", answer.warnings),
    findings("Fields that are dropped", answer.dropped, locate),
    annotations(answer.auditAnnotations),
    changes(answer),
    explanation(answer.explanation, locate),
    findings("Lints", lints, locate),
    costs(answer.costs, locate),
    defaults(answer.defaults),
    list("Not evaluated", answer.notEvaluated),
    list("Notes", answer.notes),
  ].filter(Boolean));
  recall(body, open);
}

/** Shows the value of an expression; returns a function that shows the rest of the answer. */
export function showExpression({ answer, milliseconds }, head, body) {
  if (answer.fault !== undefined) {
    return fault(answer.fault, head, body);
  }
  const failed = answer.compileError ?? answer.error ?? answer.problems?.[0]?.message;
  const facts = [answer.type && `type ${answer.type}`, answer.cost !== undefined && `cost ${answer.cost}`, took(milliseconds)];
  head.replaceChildren(element("div", { class: `banner ${failed === undefined ? "value" : "error"}`, "data-decision": failed === undefined ? "value" : "error" },
    element("p", { class: "verdict" }, failed === undefined ? clipped(answer.text ?? "") : answer.error === undefined ? "Does not compile" : "Fails"),
    element("p", { class: "facts" }, facts.filter(Boolean).join(" · ")),
    failed !== undefined && element("pre", { class: "message" }, failed)));
  return () => body.replaceChildren(...[
    answer.diagram && section("Values", diagram(answer.diagram)),
    answer.value !== undefined && section("As JSON", element("pre", { class: "code" }, JSON.stringify(answer.value, null, 2))),
  ].filter(Boolean));
}

function fault(text, head, body) {
  head.replaceChildren(element("div", { class: "banner error", "data-decision": "fault" },
    element("p", { class: "verdict" }, "No answer"), element("p", { class: "message" }, text)));
  return () => body.replaceChildren();
}

function banner(answer, milliseconds, counts) {
  const { decision, status, request } = answer;
  const total = (answer.explanation?.policies ?? []).flatMap((policy) => policy.bindings ?? []).flatMap((binding) => binding.rounds ?? [])
    .reduce((sum, round) => sum + round.cost, 0);
  const refused = (answer.pods ?? []).filter((pod) => pod.decision !== "allowed");
  const ofPods = refused.map((pod) => `, its Pod: ${(DECISIONS[pod.decision] ?? pod.decision).toLowerCase()}`).join("");
  const title = DECISIONS[decision] ? DECISIONS[decision] + ofPods : (answer.problems.length > 0 ? "Nothing is evaluated yet" : "Policies load");
  const kind = decision ?? (answer.problems.length > 0 ? "error" : "value");
  const code = status && [status.code, status.reason].filter(Boolean).join(" ");
  const facts = [code, request && described(request), decision && `cost ${number(total)}`, took(milliseconds), ...counts];
  const tone = decision === "allowed" && refused.length > 0 ? refused[0].decision : kind;
  return element("div", { class: `banner ${tone}`, "data-decision": decision ?? kind },
    element("p", { class: "verdict" }, title),
    element("p", { class: "facts" }, facts.filter(Boolean).join(" · ")),
    status?.message && element("p", { class: "message" }, status.message),
    refused.map((pod) => element("p", { class: "message" }, `Pod ${pod.name}: ${pod.status?.message ?? pod.undecided.join("; ")}`)));
}

/** The Pods that a controller makes of the object, each with its decision. */
function pods(given, locate) {
  if (!given?.length) {
    return null;
  }
  return section("Pods of the workload", given.map((pod) => element("details", { open: pod.decision !== "allowed", "data-key": `pod ${pod.name}` },
    element("summary", {}, element("strong", {}, pod.name), " ", element("span", { class: "quiet" }, (DECISIONS[pod.decision] ?? pod.decision).toLowerCase())),
    [findings("Why the Pod is invalid", pod.causes, locate), unfinished(pod), decisions(pod), list("Warnings for the user", pod.warnings), annotations(pod.auditAnnotations), changes(pod),
      explanation(pod.explanation, locate), defaults(pod.defaults)].filter(Boolean))));
}

function described(request) {
  const { group, resource } = request.resource;
  const name = [request.namespace, request.name].filter(Boolean).join("/");
  const part = request.subResource ? `/${request.subResource}` : "";
  return `${request.operation} ${resource}${part}${group ? `.${group}` : ""} ${name}`.trim();
}

function unfinished(answer) {
  return answer.undecided?.length > 0 && list("What is missing for a decision", answer.undecided);
}

function decisions(answer) {
  if (!answer.decisions?.length) {
    return null;
  }
  const shown = answer.decisions.map((decision) => element("li", {},
    element("span", { class: `tag ${decision.action}` }, decision.failed ? `${decision.action}, failed` : decision.action), " ",
    element("strong", {}, decision.policy), " ", element("span", { class: "quiet" }, `by ${decision.binding}`),
    element("p", { class: "message" }, decision.message)));
  return section("Decisions of policies", element("ul", { class: "plain" }, shown));
}

function annotations(given) {
  const entries = Object.entries(given ?? {});
  return entries.length > 0 && section("Audit annotations", element("dl", {}, entries.flatMap(([key, value]) => [element("dt", {}, key), element("dd", {}, value)])));
}

function changes(answer) {
  if (!answer.mutations?.length) {
    return null;
  }
  const steps = answer.mutations.map((step) => element("li", {},
    element("span", { class: `tag ${step.result}` }, step.result), " ", element("strong", {}, step.policy),
    element("span", { class: "quiet" }, ` mutations[${step.mutation}]${step.reinvoked ? ", reinvoked" : ""}${step.param ? `, params ${step.param}` : ""}`),
    step.message && element("p", { class: "message" }, step.message)));
  const lines = answer.diff.map(({ tag, text }) => element("span", { class: { "+": "added", "-": "removed", "@": "hunk" }[tag] ?? false }, `${tag === "@" ? "" : tag}${text}\n`));
  return section("Mutations", element("ul", { class: "plain" }, steps),
    lines.length > 0 && element("pre", { class: "code diff" }, lines),
    answer.yaml && folded("object", "The whole object", element("pre", { class: "code" }, answer.yaml)),
    answer.patch?.length > 0 && folded("patch", "As a JSON Patch", element("pre", { class: "code" }, JSON.stringify(answer.patch, null, 2))));
}

function explanation(given, locate) {
  const policies = given?.policies ?? [];
  return policies.length > 0 && section("Expressions", policies.map((policy) => explained(policy, locate)));
}

function explained(policy, locate) {
  const matches = policy.meets === "yes";
  const title = [element("strong", {}, policy.name), " ", element("span", { class: "quiet" }, matches ? "matches" : meeting(policy))];
  const bindings = (policy.bindings ?? []).map((binding) => element("div", { class: "binding" },
    element("p", {}, "Binding ", element("strong", {}, binding.name), binding.meets !== "yes" && element("span", { class: "quiet" }, ` ${meeting(binding)}`)),
    (binding.rounds ?? []).map((round) => element("div", {},
      (round.params || round.again) && element("p", { class: "quiet" }, [round.params && `Params ${round.params}`, round.again && "again, as the object has changed"].filter(Boolean).join(", ")),
      round.expressions.map((expression) => evaluated(expression, locate)),
      round.exhausted && element("p", { class: "message" }, "Out of budget")))));
  return element("details", { open: matches, "data-key": `policy ${policy.name}` }, element("summary", {}, title), bindings.length > 0 ? bindings : matches && element("p", { class: "quiet" }, "No binding"));
}

function meeting(of) {
  return { no: "does not match", undecided: "undecided", failed: "failed" }[of.meets] + (of.why ? `: ${of.why}` : "");
}

function evaluated(expression, locate) {
  const wrong = expression.error !== undefined || (expression.value === "false" && !expression.place.startsWith("variables."));
  const value = expression.error ?? clipped(expression.value ?? "");
  return element("div", { class: wrong ? "expression wrong" : "expression" },
    element("p", { class: "place" },
      expression.at ? jump(expression.place + (expression.name ? ` (${expression.name})` : ""), expression.at, locate) : expression.place,
      element("span", { class: "result" }, value), element("span", { class: "quiet" }, `cost ${number(expression.cost)}`)),
    expression.help && element("p", { class: "help" }, expression.help),
    diagram(expression.diagram),
    expression.because && element("p", { class: "because" }, "because of ", element("code", {}, expression.because)));
}

function diagram(lines) {
  return element("pre", { class: "code diagram", tabindex: "0" }, lines.map((line) => line.source !== undefined
    ? `${line.source}\n` : element("span", { class: "values" }, `${line.values}\n`)));
}

function findings(title, given, locate) {
  if (!given?.length) {
    return null;
  }
  const shown = given.map((finding) => element("li", { class: finding.severity },
    element("p", {}, finding.location && jump(place(finding.location), finding.location, locate), " ",
      ruleLink(finding)),
    element("p", { class: "message" }, finding.summary ?? finding.message),
    finding.help && element("p", { class: "help" }, finding.help)));
  return section(title, element("ul", { class: "plain findings" }, shown));
}

function costs(given, locate) {
  if (!given?.length) {
    return null;
  }
  const rows = given.map((cost) => element("tr", {},
    element("td", {}, jump(`${cost.object[1]} ${cost.field}`, cost.location, locate)),
    element("td", { class: "number" }, number(cost.max)),
    element("td", {}, element("meter", { min: "0", max: String(cost.limit), high: String(cost.limit / 2), value: String(Math.min(cost.max, cost.limit)), title: `${cost.max} of ${cost.limit}` }))));
  const [{ limit, objectSize }] = given;
  const table = element("table", {}, element("thead", {}, element("tr", {}, element("th", {}, "Expression"), element("th", { class: "number" }, "At most"), element("th", {}, "Of the limit"))), element("tbody", {}, rows));
  const about = element("p", { class: "quiet" }, `Estimated for objects of ${number(objectSize)} bytes; one evaluation may cost ${number(limit)}.`);
  return section("Worst-case costs", folded("costs", `${given.length} ${given.length === 1 ? "expression" : "expressions"}`, about, element("div", { class: "scroll", tabindex: "0" }, table)));
}

function defaults(given) {
  if (!given?.length) {
    return null;
  }
  const by = { server: "Set by the server before admission", preparation: "Set by the server before validation" };
  const shown = given.map((step) => element("li", {}, `${by[step.by] ?? `Defaulted after ${step.name}`}: `, element("span", { class: "quiet" }, step.fields.join(", "))));
  return section("What a server sets", folded("defaults", "Fields", element("ul", { class: "plain" }, shown)));
}

function list(title, texts) {
  return texts?.length > 0 && section(title, element("ul", { class: "plain" }, texts.map((text) => element("li", {}, text))));
}

function section(title, ...children) {
  return element("section", { class: "part" }, element("h2", {}, title), children);
}

function folded(key, title, ...children) {
  return element("details", { "data-key": key }, element("summary", {}, title), children);
}

function jump(text, location, locate) {
  return element("button", { type: "button", class: "jump", title: place(location), click: () => locate({ ...location }) }, text);
}

function place({ file, start }) {
  return `${file}, line ${start.line}, column ${start.column}`;
}

/** Sections stay open or closed when results change. */
function remembered(body) {
  return new Map([...body.querySelectorAll("details")].map((details) => [details.dataset.key, details.open]));
}

function recall(body, open) {
  for (const details of body.querySelectorAll("details")) {
    details.open = open.get(details.dataset.key) ?? details.open;
  }
}

function count(given, name) {
  return given?.length > 0 && `${given.length} ${name}${given.length === 1 ? "" : "s"}`;
}

function took(milliseconds) {
  return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;
}

/** An integer with commas. Formatting by a locale would load the locale first, which takes as long as showing all results. */
function number(value) {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

function clipped(text) {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
