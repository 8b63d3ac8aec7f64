// Inputs as the fragment of a link: JSON, deflated, in base64 of URLs.

const PREFIX = "v1=";
/** The maximum inflated size of a link, in bytes. */
const MOST = 4 << 20;

export async function encode(state) {
  const text = new Blob([JSON.stringify(state)]);
  const packed = await new Response(text.stream().pipeThrough(new CompressionStream("deflate-raw"))).arrayBuffer();
  let binary = "";
  for (const byte of new Uint8Array(packed)) {
    binary += String.fromCharCode(byte);
  }
  return PREFIX + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export async function decode(fragment) {
  if (!fragment.startsWith(PREFIX)) {
    throw new Error("not a link of this page");
  }
  const binary = atob(fragment.slice(PREFIX.length).replaceAll("-", "+").replaceAll("_", "/"));
  const packed = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  const chunks = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      break;
    }
    length += value.length;
    if (length > MOST) {
      await reader.cancel();
      throw new Error("the link holds too much");
    }
    chunks.push(value);
  }
  const given = JSON.parse(await new Blob(chunks).text());
  if (typeof given !== "object" || given === null) {
    throw new Error("not a link of this page");
  }
  return given;
}
