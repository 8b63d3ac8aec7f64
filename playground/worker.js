// The engine in a worker: it does not block the page, and can be terminated.

import { Engine } from "./engine.js";

let engine = null;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

self.addEventListener("message", ({ data }) => {
  if (data.module) {
    engine = new Engine(data.module);
    self.postMessage({ version: engine.version() });
    return;
  }
  const began = performance.now();
  let answer;
  try {
    answer = JSON.parse(decoder.decode(engine.answerBytes(encoder.encode(JSON.stringify(data.request)))));
  } catch (error) {
    answer = { fault: error.message };
  }
  self.postMessage({ answer, milliseconds: performance.now() - began });
});
