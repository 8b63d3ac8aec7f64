// Answers requests, one on each line of standard input, with a line each: `node lines.mjs ENGINE MODULE`.

import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [engine, module] = process.argv.slice(2);
const { Engine } = await import(pathToFileURL(engine));
const answers = new Engine(await WebAssembly.compile(await readFile(module)));
const encoder = new TextEncoder();
const decoder = new TextDecoder();
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  let answer;
  try {
    answer = decoder.decode(answers.answerBytes(encoder.encode(line)));
  } catch (error) {
    answer = JSON.stringify({ fault: error.message });
  }
  process.stdout.write(`${answer}\n`);
}
