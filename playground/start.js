// Starts the engine while the page is still loaded: the first worker, and the module, which is fetched and compiled.

/** A worker without an engine, which it gets by a message. */
export function newWorker() {
  return new Worker("worker.js", { type: "module" });
}

/** The worker of the first evaluation. */
export const firstWorker = newWorker();

/** The compiled module. */
export const compiled = compile("pratique.wasm");

async function compile(url) {
  const response = await fetch(url);
  if (!response.ok) {
    throw new Error(`${response.status} ${response.statusText}`);
  }
  // Servers that do not know the type of modules are no hindrance.
  return response.headers.get("content-type") === "application/wasm"
    ? WebAssembly.compileStreaming(response)
    : WebAssembly.compile(await response.arrayBuffer());
}
