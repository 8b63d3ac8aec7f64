// A connection to a language server: JSON-RPC in frames, over two streams.
'use strict';

/** The length of the longest message that is read, in bytes. */
const LONGEST = 256 << 20;

/** An error response of the server. */
class ResponseError extends Error {
  constructor(error) {
    super(error.message);
    this.code = error.code;
  }
}

class Connection {
  /**
   * @param input the output of the server
   * @param output the input of the server
   * @param on `notification(method, params)` for each; `asked(method)`, whether the client does what the server asks for; and
   * `broken(error)` once the stream makes no sense
   */
  constructor(input, output, on) {
    this.output = output;
    this.on = on;
    this.pending = new Map();
    this.lastId = 0;
    this.buffer = Buffer.alloc(0);
    this.closed = false;
    input.on('data', (chunk) => this.read(chunk));
    // Writes to a server that has ended are lost; the process reports its end.
    output.on('error', () => {});
  }

  /** Sends a request; the promise has its result. A token of VS Code cancels it. */
  request(method, params, token) {
    if (this.closed) return Promise.reject(new Error('the language server has ended'));
    this.lastId += 1;
    const id = this.lastId;
    return new Promise((resolve, reject) => {
      this.pending.set(id, {resolve, reject});
      this.write({jsonrpc: '2.0', id, method, params});
      token?.onCancellationRequested?.(() => {
        if (this.pending.has(id)) this.notify('$/cancelRequest', {id});
      });
    });
  }

  notify(method, params) {
    if (!this.closed) this.write({jsonrpc: '2.0', method, params});
  }

  /** Ends all requests that are still waiting. */
  close() {
    this.closed = true;
    for (const {reject} of this.pending.values()) reject(new Error('the language server has ended'));
    this.pending.clear();
  }

  write(message) {
    const text = Buffer.from(JSON.stringify(message), 'utf8');
    this.output.write(`Content-Length: ${text.length}\r\n\r\n`);
    this.output.write(text);
  }

  read(chunk) {
    if (this.closed) return;
    this.buffer = Buffer.concat([this.buffer, chunk]);
    for (;;) {
      const end = this.buffer.indexOf('\r\n\r\n');
      if (end < 0) return;
      const header = this.buffer.toString('ascii', 0, end);
      const length = Number(/^content-length: *(\d+)$/im.exec(header)?.[1]);
      if (!Number.isSafeInteger(length) || length > LONGEST) return this.giveUp(header);
      const start = end + 4;
      if (this.buffer.length < start + length) return;
      const text = this.buffer.toString('utf8', start, start + length);
      this.buffer = this.buffer.subarray(start + length);
      let message;
      try {
        message = JSON.parse(text);
      } catch {
        return this.giveUp(text);
      }
      this.receive(message);
    }
  }

  /** The stream is invalid, and the rest of it cannot be read. */
  giveUp(text) {
    this.close();
    this.buffer = Buffer.alloc(0);
    this.on.broken(new Error(`the language server sent ${JSON.stringify(text.slice(0, 100))}`));
  }

  receive(message) {
    if (message.method === undefined) {
      const waiting = this.pending.get(message.id);
      this.pending.delete(message.id);
      if (message.error) waiting?.reject(new ResponseError(message.error));
      else waiting?.resolve(message.result);
    } else if (message.id !== undefined) {
      const answer = this.on.asked?.(message.method)
        ? {result: null}
        : {error: {code: -32601, message: `${message.method} is not supported`}};
      this.write({jsonrpc: '2.0', id: message.id, ...answer});
    } else {
      this.on.notification(message.method, message.params);
    }
  }
}

module.exports = {Connection, ResponseError};
