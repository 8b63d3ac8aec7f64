// Loads the engine from the module next to this file.

import { Engine } from "./engine.js";

export { Engine, EngineError } from "./engine.js";

const beside = new URL("./pratique.wasm", import.meta.url);

/**
 * Loads the engine.
 *
 * @param {URL | string | BufferSource | WebAssembly.Module | Response} [source] where the module is, or the module itself; by
 * default the one of this package.
 * @returns {Promise<Engine>}
 */
export async function load(source = beside) {
  return new Engine(await compile(source));
}

async function compile(source) {
  if (source instanceof WebAssembly.Module) {
    return source;
  }
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
    return WebAssembly.compile(source);
  }
  if (typeof Response !== "undefined" && source instanceof Response) {
    return WebAssembly.compile(await source.arrayBuffer());
  }
  const url = new URL(source, beside);
  if (url.protocol === "file:") {
    const { readFile } = await import("node:fs/promises");
    return WebAssembly.compile(await readFile(url));
  }
  const response = await fetch(url);
  if (!response.ok) {
    throw new Error(`${url}: ${response.status} ${response.statusText}`);
  }
  return WebAssembly.compile(await response.arrayBuffer());
}
