// The engine in a worker, which is ended if it takes too long.

import { compiled, firstWorker, newWorker } from "./start.js";

/** How long an evaluation may take, in milliseconds. */
const PATIENCE = 5000;

/** Evaluates the latest request. */
export class Evaluator {
  #show;
  #ready;
  #module = null;
  #worker = null;
  #running = null;
  #next = null;

  constructor(show, ready) {
    this.#show = show;
    this.#ready = ready;
    this.#start(firstWorker);
    this.#load();
  }

  /** Evaluates a request. A waiting request is dropped: only the latest matters. */
  ask(request) {
    this.#next = request;
    document.body.dataset.running = "yes";
    this.#go();
  }

  async #load() {
    try {
      this.#module = await compiled;
      this.#worker?.postMessage({ module: this.#module });
      this.#go();
    } catch (error) {
      this.#done({ fault: `The engine cannot be loaded: ${error.message}` }, 0);
    }
  }

  /** Shows an answer, and continues with the waiting request. */
  #done(answer, milliseconds) {
    if (this.#next === null) {
      delete document.body.dataset.running;
    }
    this.#show(answer, milliseconds);
    this.#go();
  }

  #go() {
    if (this.#module === null || this.#running !== null || this.#next === null) {
      return;
    }
    if (this.#worker === null) {
      this.#start(newWorker());
    }
    const began = performance.now();
    const timer = setTimeout(() => {
      this.#end();
      this.#done({ fault: `The evaluation took longer than ${PATIENCE / 1000} seconds, and was ended.` }, PATIENCE);
    }, PATIENCE);
    this.#running = { began, timer };
    this.#worker.postMessage({ request: this.#next });
    this.#next = null;
  }

  #start(worker) {
    this.#worker = worker;
    if (this.#module !== null) {
      this.#worker.postMessage({ module: this.#module });
    }
    this.#worker.addEventListener("message", ({ data }) => {
      if (data.version) {
        this.#ready(data.version);
        return;
      }
      clearTimeout(this.#running.timer);
      this.#running = null;
      this.#done(data.answer, data.milliseconds);
    });
    this.#worker.addEventListener("error", (event) => {
      if (this.#running !== null) {
        clearTimeout(this.#running.timer);
      }
      this.#end();
      this.#done({ fault: `The worker of the engine failed: ${event.message ?? "it cannot be loaded"}` }, 0);
    });
  }

  #end() {
    this.#worker?.terminate();
    this.#worker = null;
    this.#running = null;
  }
}
