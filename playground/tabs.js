// Tabs with the keyboard interaction of the ARIA practices: arrows, Home and End move between them.

import { element } from "./dom.js";

export class Tabs {
  #list;
  #panel;
  #boxes;
  #changed;
  #tabs = new Map();
  #last = new Map();
  current = null;

  constructor(list, panel, boxes, changed) {
    this.#list = list;
    this.#panel = panel;
    this.#boxes = boxes;
    this.#changed = changed;
    panel.setAttribute("role", "tabpanel");
    list.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Shows other tabs; the selected one stays selected if it is among them. */
  show(named) {
    const key = named.map(([name]) => name).join();
    this.#tabs = new Map(named.map(([name, title]) => [name, this.#tab(name, title)]));
    this.#list.replaceChildren(...this.#tabs.values());
    this.#list.hidden = false;
    this.select(this.#last.get(key) ?? named[0][0]);
  }

  select(name) {
    if (!this.#tabs.has(name) || (this.current === name && this.#panel.firstChild === this.#boxes[name])) {
      return;
    }
    this.current = name;
    this.#last.set([...this.#tabs.keys()].join(), name);
    for (const [other, tab] of this.#tabs) {
      tab.setAttribute("aria-selected", String(other === name));
      tab.tabIndex = other === name ? 0 : -1;
    }
    this.#panel.setAttribute("aria-labelledby", `tab-${name}`);
    this.#panel.replaceChildren(this.#boxes[name]);
    this.#changed(name);
  }

  /** Marks a tab that has a problem. */
  flag(name, wrong) {
    this.#tabs.get(name)?.classList.toggle("wrong", wrong);
  }

  #tab(name, title) {
    const select = () => this.select(name);
    return element("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": this.#panel.id, click: select }, title);
  }

  #key(event) {
    const names = [...this.#tabs.keys()];
    const at = names.indexOf(this.current);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1 }[event.key];
    if (to === undefined) {
      return;
    }
    event.preventDefault();
    const name = names[(to + names.length) % names.length];
    this.select(name);
    this.#tabs.get(name).focus();
  }
}
