// Elements of the page. Texts are always text, never markup.

/** An element with attributes and children; false and null are skipped. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      made.addEventListener(key, value);
    } else if (value === true) {
      made.setAttribute(key, "");
    } else if (value !== false && value !== null && value !== undefined) {
      made.setAttribute(key, value);
    }
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

const DOCUMENTATION = "https://github.com/pratique/pratique/blob/main/docs";

/** The name of what is found, as a link to what the documentation says of it. */
export function ruleLink(finding) {
  // What a server drops is no finding of a lint.
  const isProblem = finding.severity === "error" || finding.rule === "dropped-field";
  const page = isProblem ? "problems" : "warnings";
  return element("a", { class: "rule", href: `${DOCUMENTATION}/${page}.md#${finding.rule}` }, finding.rule);
}
