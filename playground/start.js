// Starts the engine while the page is still loaded: the first worker, and the module, which is fetched and compiled.

/** A worker that gets its engine by a message. */
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
  // Works with servers that do not know the type of modules, too.
  return response.headers.get("content-type") === "application/wasm"
    ? WebAssembly.compileStreaming(response)
    : WebAssembly.compile(await response.arrayBuffer());
}
