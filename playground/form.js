// The fields of a request besides its objects.

import { element } from "./dom.js";

/** The form; `request` gives its fields of a request, without those that are empty. */
export function requestForm(changed) {
  const input = (id, attributes = {}) => element("input", { id, type: "text", autocomplete: "off", spellcheck: "false", input: changed, ...attributes });
  const operations = ["", "CREATE", "UPDATE", "DELETE", "CONNECT"];
  const fields = {
    operation: element("select", { id: "operation", input: changed }, operations.map((name) => element("option", { value: name }, name || "By the objects"))),
    user: input("user", { placeholder: "kubernetes-admin" }),
    groups: input("groups", { placeholder: "dev, ops" }),
    namespace: input("request-namespace", { placeholder: "default" }),
    expand: element("select", { id: "expand", input: changed }, [["", "Where a policy is about Pods"], ["on", "Always"], ["off", "Never"]]
      .map(([value, title]) => element("option", { value }, title))),
    subresource: input("subresource", { placeholder: "status" }),
    resource: input("resource", { placeholder: "widgets.example.com" }),
    kubernetesVersion: input("kubernetes-version", { placeholder: "1.37" }),
  };
  const checks = {
    dryRun: element("input", { id: "dry-run", type: "checkbox", input: changed }),
    bind: element("input", { id: "bind", type: "checkbox", input: changed }),
    asGiven: element("input", { id: "as-given", type: "checkbox", input: changed }),
  };
  const row = (title, field, hint) => element("p", { class: "row" }, element("label", { for: field.id }, title), field, hint && element("span", { class: "hint" }, hint));
  const check = (title, field) => element("p", { class: "check" }, field, element("label", { for: field.id }, title));
  const box = element("div", { class: "form" },
    row("Operation", fields.operation),
    row("User", fields.user),
    row("Groups", fields.groups, "separated by commas"),
    row("Namespace", fields.namespace, "of an object that names none"),
    row("Subresource", fields.subresource),
    row("Pods of workloads", fields.expand, "whether they are evaluated as well"),
    row("Resource", fields.resource, "of a kind that is not known"),
    row("Kubernetes", fields.kubernetesVersion, "the release that the server is of"),
    check("Dry run", checks.dryRun),
    check("Evaluate policies without a binding as if bound", checks.bind),
    check("Leave objects as they are, without what a server sets in them", checks.asGiven));
  return {
    box,
    request() {
      const groups = fields.groups.value.split(",").map((group) => group.trim()).filter(Boolean);
      const user = fields.user.value.trim();
      const named = user !== "" || groups.length > 0;
      const text = (name) => fields[name].value.trim() || undefined;
      return {
        operation: text("operation"),
        user: named ? { name: user || "kubernetes-admin", groups } : undefined,
        namespace: text("namespace"),
        expand: text("expand"),
        subresource: text("subresource"),
        resource: text("resource"),
        kubernetesVersion: text("kubernetesVersion"),
        ...Object.fromEntries(Object.entries(checks).map(([name, field]) => [name, field.checked])),
      };
    },
    state() {
      const texts = Object.entries(fields).map(([name, field]) => [name, field.value]);
      const set = Object.entries(checks).map(([name, field]) => [name, field.checked]);
      return Object.fromEntries([...texts, ...set].filter(([, value]) => value));
    },
    restore(given) {
      for (const [name, field] of Object.entries(fields)) {
        field.value = typeof given[name] === "string" ? given[name] : "";
      }
      for (const [name, field] of Object.entries(checks)) {
        field.checked = given[name] === true;
      }
    },
  };
}
