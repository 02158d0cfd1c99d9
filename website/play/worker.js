// The engine, away from the page, so that a question which takes long can be ended with it.

// All its files are asked for with the version of the page that is in its own address: a cache may have those of another.
const VERSION = location.search;

// The bytes of what is loaded before the first answer, and of what comes after it; the build writes them here.
const FIRST = {};
const LATER = 0;
const LIBRARY = "pyodide/python_stdlib.zip"; // what it has for the first answer is in the snapshot
const CRONTAB = /^[\d*/,\-\s]*$/; // what the snapshot and now.zip are enough for; all else waits for the rest

const total = Object.values(FIRST).reduce((sum, size) => sum + size, 0);
const arrived = new Map(); // bytes by file, first those for the first answer, then those of the rest
let isFirst = true;
function count(name, size) {
  arrived.set(name, (arrived.get(name) ?? 0) + size);
  const loaded = [...arrived.values()].reduce((sum, each) => sum + each, 0);
  postMessage({ loaded, total: isFirst ? total : LATER, later: isFirst ? LATER : 0 });
}
const fetched = globalThis.fetch.bind(globalThis);

// Load a file, count its bytes as they come, and unpack it if it is compressed: not every host does that.
async function load(name, options) {
  arrived.delete(name);
  const answer = await fetched(name + VERSION, options);
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  const counted = answer.body.pipeThrough(new TransformStream({ transform(chunk, out) { count(name, chunk.byteLength); out.enqueue(chunk); } }));
  const type = name.includes(".wasm") ? "application/wasm" : "application/octet-stream";
  return new Response(name.endsWith(".gz") ? counted.pipeThrough(new DecompressionStream("gzip")) : counted, { headers: { "content-type": type } });
}

// What does not arrive is asked for once more: two tabs at once may break the cache of Chromium, and a phone its line.
function bytes(name) {
  const read = async (options) => (await load(name, options)).arrayBuffer();
  return read().catch(() => read({ cache: "no-store" }));
}

const tell = ({ message }) => postMessage({ failed: message });

// pyodide asks for its files by these names.
globalThis.fetch = (url, options) => {
  const name = String(url.url ?? url).split("/pyodide/").at(-1);
  if (name === "pyodide.asm.wasm") return load("pyodide/pyodide.asm.wasm.gz").catch((error) => { tell(error); throw error; }); // which pyodide waits for without end
  if (name === "python_stdlib.zip") return Promise.resolve(new Response(new Uint8Array([80, 75, 5, 6, ...Array(18).fill(0)]))); // an empty archive, until complete()
  return fetched(`pyodide/${name}${VERSION}`, options);
};

async function start() {
  const [data, snapshot] = [bytes("now.zip"), bytes("snapshot.gz")];
  for (const each of [data, snapshot]) each.catch(() => {}); // told below, where they are waited for
  const [{ loadPyodide }, { default: make }] = await Promise.all(["", ".asm"].map((part) => import(`./pyodide/pyodide${part}.mjs${VERSION}`)));
  count("pyodide/pyodide.asm.mjs", FIRST["pyodide/pyodide.asm.mjs"] ?? 0);
  const createPyodideModule = async (settings) => {
    const [module, memory] = await Promise.all([make(settings), snapshot]);
    while (module.HEAP8.length < memory.byteLength) module._malloc(1 << 22); // pyodide does not make room by itself
    return module;
  };
  const indexURL = new URL("./pyodide/", import.meta.url).href;
  const python = await loadPyodide({ indexURL, createPyodideModule, _loadSnapshot: snapshot });
  const path = python.runPython("import sys; sys.path").toJs();
  const [library, extractDir] = [".zip", "site-packages"].map((end) => path.find((each) => each.endsWith(end)));
  python.unpackArchive(await data, "zip", { extractDir });
  const engine = python.pyimport("engine");
  let rest;
  let isWhole = false;
  const begin = async () => {
    isFirst = false;
    arrived.clear();
    const [archive, modules] = await Promise.all([bytes("later.zip"), bytes(LIBRARY)]);
    python.FS.writeFile(library, new Uint8Array(modules));
    python.unpackArchive(archive, "zip", { extractDir });
    isWhole = true;
  };
  const complete = () => (rest ??= begin().catch((error) => { rest = undefined; throw error; }));
  const answer = (question) => JSON.parse(engine.answer(JSON.stringify(question)));
  return { complete, answer, waits: () => !isWhole };
}

const ready = start();
ready.then(() => postMessage({ ready: true }), tell);

onmessage = async ({ data: { id, question } }) => {
  const { answer, complete, waits } = await ready.catch(() => ({}));
  if (!answer) return; // the page was told
  const whole = async () => {
    if (waits()) postMessage({ waits: id });
    await complete();
    postMessage({ begun: id });
  };
  try {
    const isPlain = ["schedule", "compile"].includes(question.kind) && CRONTAB.test(question.text);
    if (isPlain) postMessage({ begun: id });
    else await whole();
    let found;
    try { found = answer(question); } catch (error) {
      if (!isPlain || !waits()) throw error;
      await whole(); // it needs a module that is not in the snapshot
      found = answer(question);
    }
    postMessage({ id, answer: found });
  } catch (error) {
    const lines = String(error.message ?? error).trim().split("\n");
    if (waits()) tell(error);
    else postMessage({ id, answer: { refused: `Something went wrong; this is a bug in crondor: ${lines.at(-1)}` } });
  }
  setTimeout(() => complete().catch(() => {})); // before anybody asks for it
};
