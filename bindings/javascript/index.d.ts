import { Engine } from "./engine.js";

export * from "./engine.js";

/** Loads the engine; by default from the module of this package. */
export function load(source?: URL | string | BufferSource | WebAssembly.Module | Response): Promise<Engine>;
