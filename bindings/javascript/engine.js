// The engine in a WebAssembly module: JSON in, JSON out. Works in browsers, workers, Node.js, Deno and Bun.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The engine. A trap, for example when memory is exhausted, ends an instance; the next request gets a new one. */
export class Engine {
  #module;
  #instance = null;

  /** @param {WebAssembly.Module} module */
  constructor(module) {
    this.#module = module;
  }

  /** Policies and a request: see `Evaluate` in the types. */
  evaluate(request) {
    return this.#answer({ evaluate: request });
  }

  /** An expression by itself: see `Expression` in the types. */
  expression(request) {
    return this.#answer({ expression: request });
  }

  /** The version of the engine. */
  version() {
    return this.#answer({ version: {} }).version;
  }

  #answer(request) {
    const answer = JSON.parse(decoder.decode(this.answerBytes(encoder.encode(JSON.stringify(request)))));
    if (answer.fault !== undefined) {
      throw new EngineError(answer.fault);
    }
    return answer;
  }

  /** Answers a request in bytes of JSON, with bytes of JSON. */
  answerBytes(request) {
    this.#instance ??= new WebAssembly.Instance(this.#module, {});
    const { memory, pratique_input, pratique_answer, pratique_output } = this.#instance.exports;
    try {
      const input = pratique_input(request.length) >>> 0;
      // The memory may have grown, which replaces its buffer.
      new Uint8Array(memory.buffer, input, request.length).set(request);
      const length = pratique_answer() >>> 0;
      const output = pratique_output() >>> 0;
      return new Uint8Array(memory.buffer, output, length).slice();
    } catch (error) {
      this.#instance = null;
      throw new EngineError(`the engine ended: ${error.message}`, { cause: error });
    }
  }
}

/** The engine could not answer: the request is invalid, or its evaluation exhausted memory or stack. */
export class EngineError extends Error {
  name = "EngineError";
}
