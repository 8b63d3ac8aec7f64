// A text area with line numbers, colours and marks.

import { element, ruleLink } from "./dom.js";
import { colours } from "./highlight.js";

export class Editor {
  #area;
  #colours = element("pre", { "aria-hidden": "true", class: "colours" });
  #marks = element("pre", { "aria-hidden": "true", class: "marks" });
  #gutter = element("div", { "aria-hidden": "true", class: "gutter" });
  #told = element("p", { class: "told", hidden: true });
  #layers;
  #language;
  #findings = [];

  constructor(name, title, hint, language, changed) {
    this.#language = language;
    this.#area = element("textarea", {
      id: `edit-${name}`, spellcheck: "false", autocomplete: "off", autocapitalize: "off", wrap: "off", "aria-label": title,
      "aria-describedby": `hint-${name}`,
      input: () => { this.#findings = []; this.#draw(); changed(); },
      scroll: () => this.#follow(),
    });
    this.#layers = element("div", { class: "layers" }, this.#colours, this.#marks, this.#area);
    this.box = element("div", { class: "editor" },
      element("p", { class: "hint", id: `hint-${name}` }, hint),
      element("div", { class: "text" }, this.#gutter, this.#layers),
      this.#told);
    this.#draw();
  }

  get text() {
    return this.#area.value;
  }

  set text(text) {
    this.#area.value = text;
    this.#findings = [];
    this.#draw();
    this.#area.scrollTop = 0;
    this.#follow();
  }

  /** Marks findings in the text. */
  mark(findings) {
    this.#findings = findings;
    const wrong = findings.some((finding) => finding.severity === "error");
    this.#area.setAttribute("aria-invalid", String(wrong));
    this.#draw();
  }

  /** Selects a place, from line and column. */
  go({ start, end }) {
    const from = this.#offset(start);
    this.#area.focus();
    this.#area.setSelectionRange(from, Math.max(from, this.#offset(end)));
    const height = this.#area.scrollHeight / Math.max(1, this.text.split("\n").length);
    this.#area.scrollTop = Math.max(0, (start.line - 4) * height);
    this.#follow();
  }

  /** The index of a position, whose column counts characters and not units of UTF-16. */
  #offset({ line, column }) {
    const lines = this.text.split("\n");
    const before = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    return before + Array.from(lines[line - 1] ?? "").slice(0, column - 1).join("").length;
  }

  #follow() {
    const { scrollTop, scrollLeft } = this.#area;
    for (const layer of [this.#colours, this.#marks]) {
      layer.style.transform = `translate(${-scrollLeft}px, ${-scrollTop}px)`;
    }
    this.#gutter.style.setProperty("--scrolled", `${-scrollTop}px`);
  }

  #draw() {
    const lines = this.text.split("\n");
    this.#colours.replaceChildren(...colours(lines, this.#language));
    this.#marks.replaceChildren(...lines.flatMap((line, index) => [...this.#marked(line, index + 1), "\n"]));
    this.#gutter.replaceChildren(element("div", { class: "numbers" }, lines.map((_, index) => this.#number(index + 1))));
    this.#tell();
    this.#follow();
  }

  /** Says what is found first: a mark alone does not say what it is about. */
  #tell() {
    const first = this.#findings.find((finding) => finding.severity === "error") ?? this.#findings[0];
    const more = this.#findings.length > 1 ? ` (and ${this.#findings.length - 1} more)` : "";
    this.#told.hidden = first === undefined;
    this.#told.classList.toggle("error", first?.severity === "error");
    const told = first === undefined ? [] : [`Line ${first.location.start.line}: ${first.summary ?? first.message}${more} `, ruleLink(first)];
    this.#told.replaceChildren(...told);
  }

  #number(line) {
    const found = this.#findings.filter((finding) => finding.location.start.line === line);
    const severity = found.some((finding) => finding.severity === "error") ? "error" : found[0]?.severity;
    return element("span", { class: severity ?? false, title: found.map((finding) => finding.summary ?? finding.message).join("\n") || false }, String(line));
  }

  /** A line with its problems underlined. */
  #marked(line, number) {
    const characters = Array.from(line);
    const within = this.#findings.filter(({ location: { start, end } }) => start.line <= number && number <= end.line);
    const ranges = within.map(({ severity, location: { start, end } }) => {
      const from = start.line === number ? start.column - 1 : characters.findIndex((character) => character !== " ");
      const to = end.line === number ? end.column - 1 : characters.length;
      return { severity, from: Math.max(0, from), to: Math.max(to, from + 1) };
    }).filter(({ from, to }) => from < to);
    if (ranges.length === 0) {
      return [line];
    }
    const parts = [];
    let open = "";
    let text = "";
    const flush = () => {
      if (text !== "") {
        parts.push(open === "" ? text : element("span", { class: open }, text));
      }
      text = "";
    };
    for (const [index, character] of [...characters, " "].entries()) {
      const here = ranges.filter(({ from, to }) => from <= index && index < to);
      const state = here.some(({ severity }) => severity === "error") ? "error" : here[0]?.severity ?? "";
      if (state !== open) {
        flush();
        open = state;
      }
      text += character;
    }
    flush();
    return parts;
  }
}
