// Packs the extension as a .vsix, without a network: a zip with two files that describe its contents. The same files give the same
// bytes. `node pack.js [FILE]` writes it.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const zlib = require('node:zlib');

const read = (name) => fs.readFileSync(path.join(__dirname, name));
const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** The files of the package, by their names in it. */
function files() {
  const sources = fs.readdirSync(path.join(__dirname, 'src')).sort();
  const own = ['package.json', 'README.md', 'snippets.json', ...sources.map((name) => `src/${name}`)];
  const manifest = JSON.parse(read('package.json'));
  return [
    ['[Content_Types].xml', Buffer.from(contentTypes())],
    ['extension.vsixmanifest', Buffer.from(vsixManifest(manifest))],
    ...own.map((name) => [`extension/${name}`, read(name)]),
    ['extension/LICENSE.txt', read('LICENSE')],
  ];
}

function contentTypes() {
  const types = {
    '.js': 'application/javascript',
    '.json': 'application/json',
    '.md': 'text/markdown',
    '.txt': 'text/plain',
    '.vsixmanifest': 'text/xml',
  };
  const lines = Object.entries(types).map(
    ([extension, type]) => `  <Default Extension="${extension}" ContentType="${type}"/>\n`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
${lines.join('')}</Types>
`;
}

function vsixManifest(manifest) {
  const {name, displayName, description, version, publisher, keywords, categories, engines} = manifest;
  return `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${escaped(name)}" Version="${escaped(version)}" Publisher="${escaped(publisher)}"/>
    <DisplayName>${escaped(displayName)}</DisplayName>
    <Description xml:space="preserve">${escaped(description)}</Description>
    <Tags>${escaped(keywords.join(','))}</Tags>
    <Categories>${escaped(categories.join(','))}</Categories>
    <License>extension/LICENSE.txt</License>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="${escaped(engines.vscode)}"/>
      <Property Id="Microsoft.VisualStudio.Services.Links.Source" Value="${escaped(manifest.repository.url)}"/>
    </Properties>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code"/>
  </Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
`;
}

/** A zip of files, dated 1980-01-01. */
function zip(entries) {
  const bodies = [];
  const directory = [];
  let offset = 0;
  for (const [name, content] of entries) {
    const encoded = Buffer.from(name, 'utf8');
    const packed = zlib.deflateRawSync(content, {level: 9});
    // What both headers have: version 2.0, names in UTF-8, deflate, time and date, checksum, sizes, length of the name.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x0800, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt16LE(0, 6);
    common.writeUInt16LE(0x21, 8);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(encoded.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, encoded, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, rest, encoded);
    bodies.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, central, end]);
}

// `zlib.crc32` is newer than what the extension asks for.
function crc32(content) {
  let crc = 0xffffffff;
  for (const byte of content) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

module.exports = {files, zip};

if (require.main === module) {
  const {name, version} = JSON.parse(read('package.json'));
  const target = process.argv[2] ?? `${name}-${version}.vsix`;
  fs.writeFileSync(target, zip(files()));
  console.log(target);
}
