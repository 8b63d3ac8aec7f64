// From nothing to a red squiggle: the packed extension, unpacked as an editor installs it, in a double of VS Code, with the language
// server itself. What is seen is docs/walks/editor.md, which BLESS=1 writes.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const zlib = require('node:zlib');
const {test} = require('node:test');
const double = require('./vscode');
const packed = require('../pack');

const program = process.env.PRATIQUE;
assert.ok(program, 'PRATIQUE names the program to test with');
const recorded = path.join(__dirname, '../../../docs/walks/editor.md');

/** Unpacks a zip by its directory, as other programs do. */
function unpack(bytes, directory) {
  const end = bytes.length - 22;
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [size, length] = [bytes.readUInt32LE(at + 20), bytes.readUInt16LE(at + 28)];
    const local = bytes.readUInt32LE(at + 42);
    const name = bytes.toString('utf8', at + 46, at + 46 + length);
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const file = path.join(directory, name);
    fs.mkdirSync(path.dirname(file), {recursive: true});
    fs.writeFileSync(file, zlib.inflateRawSync(bytes.subarray(start, start + size)));
    at += 46 + length;
  }
}

/** A snippet as it is inserted, each placeholder with its default. */
function snippet(extension, prefix) {
  const all = JSON.parse(fs.readFileSync(path.join(extension, 'snippets.json'), 'utf8'));
  const {body} = Object.values(all).find((one) => one.prefix === prefix);
  const text = body
    .join('\n')
    .replace(/\$\{\d+\|([^,|]*)[^}]*\}/g, '$1')
    .replace(/\$\{\d+:((?:\\.|[^}\\])*)\}/g, (_, given) => given.replace(/\\(.)/g, '$1'))
    .replace(/\$\d+/g, '');
  return `${text.trimEnd()}\n`;
}

/** What an editor shows of a diagnostic: the line with a squiggle, and the message. */
function squiggle(text, {range, severity, message, code}) {
  const {start, end} = range;
  const line = text.split('\n')[start.line];
  const number = String(start.line + 1).padStart(3);
  const length = Math.max(1, (end.line === start.line ? end.character : line.length) - start.character);
  const kind = ['error', 'warning'][severity];
  return [
    `${number} | ${line}`,
    `    | ${' '.repeat(start.character)}${'~'.repeat(length)} ${kind}[${code?.value ?? code}]`,
    ...message.split('\n').map((told) => `    = ${told}`),
  ].join('\n');
}

test('from nothing to a red squiggle, and a fix', async () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pratique-walk-'));
  unpack(packed.zip(packed.files()), directory);
  const extension = path.join(directory, 'extension');
  const project = path.join(directory, 'project');
  fs.mkdirSync(project);
  const {vscode, state} = double.create({'pratique.path': program});
  const walk = ['# From nothing to a red squiggle', '', 'A test of the extension for Visual Studio Code walks this way, and writes this page.'];
  const step = (title, ...parts) => walk.push('', `## ${title}`, '', ...parts);
  const block = (language, text) => `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;

  const installed = fs.readdirSync(extension, {recursive: true}).sort();
  const files = installed.filter((name) => fs.statSync(path.join(extension, name)).isFile());
  step('The extension is packed and installed', block('sh', 'cd editors/vscode && node pack.js && code --install-extension pratique-0.1.0.vsix'), '',
    block('text', files.join('\n')));

  const {activate, deactivate} = require(path.join(extension, 'src/extension.js'));
  let text = snippet(extension, 'vap');
  const document = {...double.document(vscode, path.join(project, 'policy.yaml'), ''), getText: () => text};
  const name = document.uri.toString();
  vscode.workspace.workspaceFolders = [{name: 'project', uri: vscode.Uri.file(project)}];
  vscode.workspace.textDocuments.push(document);
  /** Replaces a text; resolves with the diagnostics that follow, of which something is true. */
  const type = (from, to, isMeant) => {
    const followed = new Promise((resolve) => {
      const listening = state.published.on(({uri, found}) => {
        if (uri !== name || !isMeant(found)) return;
        listening.dispose();
        resolve(found);
      });
    });
    const range = new double.Range(double.positionOf(text, from), double.positionOf(text, from, from.length));
    text = text.replace(from, to);
    document.version += 1;
    state.changed.fire({document, contentChanges: [{range, text: to}]});
    return followed;
  };
  await activate({subscriptions: []});
  step('A new file gets the snippet `vap`', block('yaml', text));

  const isError = ({severity}) => severity === 0;
  const expression = /expression: "?(.*?)"?\n/.exec(text)[1];
  const wrong = expression.replace('object', 'objct');
  assert.notEqual(wrong, expression);
  const found = await type(expression, wrong, (all) => all.some(isError));
  const [error] = found.filter(isError);
  step('A name is misspelt', block('text', squiggle(text, error)));

  const actions = await state.providers.actions.provideCodeActions(document, error.range, {diagnostics: found});
  const {title, edit} = actions.find(({kind}) => kind === 'quickfix');
  const [change] = edit.edits;
  const fixed = await type('objct', change.text, (all) => !all.some(isError));
  assert.deepEqual(change.range.start, double.positionOf(text, expression, expression.indexOf('object')));
  const rest = fixed.map((one) => squiggle(text, one));
  step('The fix that is offered is taken', `${title}:`, '', block('text', rest.length ? rest.join('\n') : 'No problems have been detected in the workspace.'));
  await deactivate();
  fs.rmSync(directory, {recursive: true});

  const seen = `${walk.join('\n')}\n`;
  if (process.env.BLESS) fs.writeFileSync(recorded, seen);
  assert.equal(seen, fs.readFileSync(recorded, 'utf8'), 'the walk differs: BLESS=1 writes it');
});
