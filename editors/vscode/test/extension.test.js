// The extension in a double of VS Code, with the language server itself: PRATIQUE names the program.
'use strict';

const assert = require('node:assert/strict');
const {execFileSync} = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const {after, before, test} = require('node:test');
const double = require('./vscode');

const program = process.env.PRATIQUE;
assert.ok(program, 'PRATIQUE names the program to test with');
const {vscode, state} = double.create({'pratique.path': program});
const extension = require('../src/extension');
const {Connection} = require('../src/connection');
const packed = require('../pack');

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pratique-vscode-'));
const file = path.join(directory, 'policy.yaml');
const texts = path.join(__dirname, '../../../testdata/editors');
const POLICY = ['policy.yaml', 'binding.yaml'].map((name) => fs.readFileSync(path.join(texts, name), 'utf8')).join('---\n');
const opened = double.document(vscode, file, POLICY);
const name = opened.uri.toString();
const context = {subscriptions: []};

/** The next diagnostics of a document, of which something is true. */
function diagnostics(uri, isMeant) {
  return new Promise((resolve) => {
    const listening = state.published.on((published) => {
      if (published.uri === uri && isMeant(published.found)) {
        listening.dispose();
        resolve(published.found);
      }
    });
  });
}

/** Replaces a text of the document, whose content is given. */
function change(text, from, to) {
  const range = new double.Range(double.positionOf(text, from), double.positionOf(text, from, from.length));
  opened.version += 1;
  state.changed.fire({document: opened, contentChanges: [{range, text: to}]});
  return text.replace(from, to);
}

before(async () => {
  vscode.workspace.textDocuments.push(opened);
  await extension.activate(context);
});

after(async () => {
  await extension.deactivate();
  fs.rmSync(directory, {recursive: true});
});

test('problems come and go while one types', async () => {
  const wrong = diagnostics(name, (found) => found.length > 0);
  const text = change(POLICY, 'spec.replicas <=', 'spec.replicaz <=');
  const [found] = await wrong;
  assert.equal(found.code.value, 'type-check');
  assert.equal(found.source, 'pratique');
  // Warnings are 1 in VS Code, 2 in the protocol.
  assert.equal(found.severity, 1);
  assert.match(found.code.target.toString(), /warnings\.md#type-check$/);
  const fine = diagnostics(name, (all) => all.length === 0);
  change(text, 'replicaz', 'replicas');
  await fine;
});

test('fixes are offered', async () => {
  const wrong = diagnostics(name, (found) => found.length > 0);
  const text = change(POLICY, 'spec.replicas <=', 'spec.replicaz <=');
  const found = await wrong;
  const actions = await state.providers.actions.provideCodeActions(opened, found[0].range, {diagnostics: found});
  assert.equal(actions.length, 1);
  assert.equal(actions[0].kind, 'quickfix');
  assert.equal(actions[0].diagnostics[0].message, found[0].message);
  const [edit] = actions[0].edit.edits;
  assert.equal(edit.uri, name);
  assert.equal(edit.text, 'replicas');
  assert.deepEqual(edit.range.start, double.positionOf(text, 'replicaz'));
  const fine = diagnostics(name, (all) => all.length === 0);
  change(text, 'replicaz', 'replicas');
  await fine;
});

test('expressions are known', async () => {
  const {providers} = state;
  const at = (needle, offset) => double.positionOf(POLICY, needle, offset);
  const hover = await providers.hover.provideHover(opened, at('replicas <=', 2));
  assert.match(hover.contents.value, /replicas: int/);
  const items = await providers.completion.provideCompletionItems(opened, at('variables.most', 10));
  const most = items.find((item) => item.label === 'most');
  // A field is 4 in VS Code, 5 in the protocol.
  assert.equal(most.kind, 4);
  const definition = await providers.definition.provideDefinition(opened, at('variables.most', 11));
  assert.deepEqual(definition.range.start, at('name: most', 6));
  const edit = await providers.rename.provideRenameEdits(opened, at('variables.most', 11), 'limit');
  assert.equal(edit.edits.length, 2);
  await assert.rejects(providers.rename.provideRenameEdits(opened, at('variables.most', 11), 'no name'));
  const uses = await providers.references.provideReferences(opened, at('name: most', 7), {
    includeDeclaration: false,
  });
  assert.equal(uses.length, 1);
  const symbols = await providers.symbols.provideDocumentSymbols(opened);
  assert.deepEqual(
    symbols.map((symbol) => symbol.name),
    ['replicas', 'replicas-everywhere', 'scale', 'scale-everywhere'],
  );
  const tokens = await providers.tokens.provideDocumentSemanticTokens(opened);
  assert.ok(tokens.data.length > 0 && tokens.data.length % 5 === 0);
});

test('files beside a document count once they change', async () => {
  const other = path.join(directory, 'other.yaml');
  const uri = vscode.Uri.file(other);
  const lonely = POLICY.split('---')[0].replace('name: replicas', 'name: other');
  fs.writeFileSync(other, lonely);
  const found = diagnostics(uri.toString(), (all) => all.length > 0);
  state.created.fire(uri);
  assert.equal((await found)[0].code.value, 'unbound-policy');
  fs.rmSync(other);
  const gone = diagnostics(uri.toString(), (all) => all.length === 0);
  state.deleted.fire(uri);
  await gone;
});

test('tests have their last outcome beside them', async () => {
  fs.writeFileSync(file, POLICY);
  const suite = path.join(directory, 'suite.yaml');
  const text = `apiVersion: pratique/v1alpha1
kind: Suite
policies: [policy.yaml]
tests:
- name: many
  object: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 9}}
  expect: denied
`;
  fs.writeFileSync(suite, text);
  const document = double.document(vscode, suite, text);
  const told = new Promise((resolve) => state.providers.hints.onDidChangeInlayHints(resolve));
  state.opened.fire(document);
  await told;
  const all = new double.Range(double.positionOf(text, 'apiVersion'), double.positionOf(text, 'denied'));
  const [hint] = await state.providers.hints.provideInlayHints(document, all);
  assert.equal(hint.label, '✓ denied');
  assert.deepEqual(hint.position, double.positionOf(text, 'many', 4));
  state.closed.fire(document);
});

test('a setting restarts the server, and one turns it off', async () => {
  const configured = async (settings) => {
    Object.assign(state.settings, settings);
    state.configured.fire({affectsConfiguration: (section) => section === 'pratique'});
    await state.commands['pratique.restart']();
  };
  await configured({'pratique.enable': false});
  assert.deepEqual(state.providers, {});
  await configured({'pratique.enable': true, 'pratique.path': path.join(directory, 'nothing')});
  assert.match(state.errors.at(-1), /ENOENT/);
  assert.deepEqual(state.providers, {});
  await configured({'pratique.path': program});
  assert.ok(state.providers.hover);
});

test('streams that make no sense end the connection', () => {
  for (const text of ['Content-Length: x\r\n\r\n', 'Content-Length: 3\r\n\r\n{,}']) {
    const listeners = [];
    const told = [];
    const connection = new Connection(
      {on: (_, listener) => listeners.push(listener)},
      {on: () => {}, write: () => {}},
      {notification: () => {}, broken: (error) => told.push(error.message)},
    );
    // However it is cut.
    for (const byte of Buffer.from(text)) listeners[0](Buffer.from([byte]));
    assert.equal(told.length, 1);
    assert.ok(connection.closed);
  }
});

test('snippets are manifests', () => {
  const snippets = JSON.parse(fs.readFileSync(path.join(__dirname, '../snippets.json'), 'utf8'));
  const filled = (body) =>
    body
      .join('\n')
      .replace(/\$\{\d+\|([^,|]*)[^}]*\}/g, '$1')
      .replace(/\$\{\d+:((?:\\.|[^}\\])*)\}/g, (_, text) => text.replace(/\\(.)/g, '$1'));
  for (const [title, {body}] of Object.entries(snippets)) {
    const text = filled(body);
    assert.ok(!text.includes('${'), text);
    const project = fs.mkdtempSync(path.join(directory, 'snippet-'));
    const run = (...line) => execFileSync(program, line, {cwd: project, encoding: 'utf8', stdio: 'pipe'});
    const written = path.join(project, 'snippet.yaml');
    if (title.endsWith('Policy')) {
      fs.writeFileSync(written, text);
      assert.match(run('check', '--deny', 'warnings', 'snippet.yaml'), /valid/);
      continue;
    }
    fs.mkdirSync(path.join(project, 'policies'));
    fs.writeFileSync(path.join(project, 'policies/policy.yaml'), POLICY);
    if (title === 'Pratique suite') {
      fs.writeFileSync(written, text);
      // The sample has no replicas, of which the policy reads the number: that is told, and the suite was read.
      const {status, stdout} = spawn(project, 'test', 'snippet.yaml');
      assert.ok(status === 0 || status === 1, stdout);
      assert.match(stdout, /1 (passed|failed)/);
    } else {
      fs.writeFileSync(path.join(project, 'pratique.yaml'), text);
      assert.match(run('check'), /policies: valid/);
    }
  }
});

function spawn(cwd, ...line) {
  return require('node:child_process').spawnSync(program, line, {cwd, encoding: 'utf8'});
}

test('the manifest names what there is', () => {
  const root = path.join(__dirname, '..');
  const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  const {contributes, main} = manifest;
  for (const named of [main, ...contributes.snippets.map((one) => one.path)]) {
    assert.ok(fs.existsSync(path.join(root, named)), named);
  }
  assert.deepEqual(
    contributes.commands.map((one) => one.command),
    Object.keys(state.commands),
  );
  const sources = fs.readFileSync(path.join(root, 'src/extension.js'), 'utf8');
  for (const setting of Object.keys(contributes.configuration.properties)) {
    assert.ok(sources.includes(`'${setting.replace('pratique.', '')}'`), setting);
  }
  // Nothing would install what it depends on.
  assert.equal(manifest.dependencies, undefined);
});

test('the package has all files, twice the same', () => {
  const files = packed.files();
  const bytes = packed.zip(files);
  assert.deepEqual(bytes, packed.zip(packed.files()));
  const names = files.map(([entry]) => entry);
  for (const entry of ['extension.vsixmanifest', 'extension/package.json', 'extension/src/extension.js']) {
    assert.ok(names.includes(entry), entry);
  }
  const vsix = path.join(directory, 'pratique.vsix');
  fs.writeFileSync(vsix, bytes);
  // Another program's view of the archive.
  const python = `
import sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
assert archive.testzip() is None
print("\\n".join(archive.namelist()))`;
  let listed;
  try {
    listed = execFileSync('python3', ['-c', python, vsix], {encoding: 'utf8'});
  } catch (error) {
    if (error.code === 'ENOENT') return;
    throw error;
  }
  assert.deepEqual(listed.trim().split('\n'), names);
});
