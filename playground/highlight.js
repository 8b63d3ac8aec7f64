// Colours of YAML and CEL, line by line: an approximation, not a parser.

import { element } from "./dom.js";

const YAML = /(?<comment>(?:^|\s)#.*$)|(?<string>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')|(?<key>[\w.\/$-]+(?=\s*:(?:\s|$)))|(?<mark>^---|^\.\.\.|^\s*-(?=\s)|[{}[\],|>&*!]-?)|(?<word>\b(?:true|false|null)\b|-?\b\d+(?:\.\d+)?\b)/g;
const CEL = /(?<comment>\/\/.*$)|(?<string>[rRbB]{0,2}(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))|(?<key>\b(?:object|oldObject|request|params|namespaceObject|authorizer|variables)\b)|(?<mark>[{}[\]()&|?:!=<>+*\/%,.-]+)|(?<word>\b(?:true|false|null|in)\b|\b\d+(?:\.\d+)?u?\b)/g;

/** The nodes of some lines. */
export function colours(lines, language) {
  const pattern = language === "cel" ? CEL : YAML;
  return lines.flatMap((line) => [...coloured(line, pattern), "\n"]);
}

function coloured(line, pattern) {
  // Very long lines are not coloured.
  if (line.length > 2000) {
    return [line];
  }
  const nodes = [];
  let at = 0;
  for (const match of line.matchAll(pattern)) {
    const [kind] = Object.entries(match.groups).find(([, text]) => text !== undefined);
    nodes.push(line.slice(at, match.index), element("span", { class: kind }, match[0]));
    at = match.index + match[0].length;
  }
  nodes.push(line.slice(at));
  return nodes.filter((node) => node !== "");
}
