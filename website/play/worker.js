// The engine, away from the page, so that a question which takes long can be ended with it.
import { loadPyodide } from "./pyodide/pyodide.mjs";

// The bytes of what is loaded before the first answer, and of what comes after it; the build writes them here.
const FIRST = {};
const LATER = 0;
const LIBRARY = "pyodide/python_stdlib.zip"; // what it has for the first answer is in the snapshot
const CRONTAB = /^[\d*/,\-\s]*$/; // what the snapshot and now.zip are enough for; all else waits for the rest

const total = Object.values(FIRST).reduce((sum, size) => sum + size, 0);
let loaded = 0;
const count = (size) => { loaded += size; postMessage({ loaded, total, later: LATER }); };
const fetched = globalThis.fetch.bind(globalThis);

// Load a file, count its bytes as they come, and unpack it if it is compressed: not every host does that.
async function load(name) {
  const answer = await fetched(name);
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  const counted = answer.body.pipeThrough(new TransformStream({ transform(chunk, out) { count(chunk.byteLength); out.enqueue(chunk); } }));
  const type = name.includes(".wasm") ? "application/wasm" : "application/octet-stream";
  return new Response(name.endsWith(".gz") ? counted.pipeThrough(new DecompressionStream("gzip")) : counted, { headers: { "content-type": type } });
}

const bytes = async (name) => (await fetched(name)).arrayBuffer();

// pyodide asks for its files by these names.
globalThis.fetch = (url, options) => {
  const name = String(url.url ?? url).split("/pyodide/").at(-1);
  if (name === "pyodide.asm.wasm") return load("pyodide/pyodide.asm.wasm.gz");
  if (name === "python_stdlib.zip") return Promise.resolve(new Response(new Uint8Array([80, 75, 5, 6, ...Array(18).fill(0)]))); // an empty archive, until complete()
  return fetched(url, options);
};

async function start() {
  const data = load("now.zip").then((answer) => answer.arrayBuffer());
  const snapshot = load("snapshot.gz").then((answer) => answer.arrayBuffer());
  for (const each of [data, snapshot]) each.catch(() => {}); // told below, where they are waited for
  const { default: make } = await import("./pyodide/pyodide.asm.mjs");
  count(FIRST["pyodide/pyodide.asm.mjs"] ?? 0);
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
  const complete = () => (rest ??= Promise.all([bytes("later.zip"), bytes(LIBRARY)]).then(([archive, modules]) => {
    python.FS.writeFile(library, new Uint8Array(modules));
    python.unpackArchive(archive, "zip", { extractDir });
  }).catch((error) => { rest = undefined; throw error; }));
  const answer = (question) => JSON.parse(engine.answer(JSON.stringify(question)));
  return { complete, answer };
}

const ready = start();
ready.then(() => postMessage({ ready: true }), (error) => postMessage({ failed: String(error) }));

onmessage = async ({ data: { id, question } }) => {
  const { answer, complete } = await ready;
  try {
    const isPlain = ["schedule", "compile"].includes(question.kind) && CRONTAB.test(question.text);
    if (!isPlain) await complete();
    let found;
    try { found = answer(question); } catch (error) {
      if (!isPlain) throw error;
      await complete(); // it needs a module that is not in the snapshot
      found = answer(question);
    }
    postMessage({ id, answer: found });
  } catch (error) {
    const lines = String(error.message ?? error).trim().split("\n");
    postMessage({ id, answer: { refused: `This went wrong, and it is a fault of crondor: ${lines.at(-1)}` } });
  }
  setTimeout(() => complete().catch(() => {})); // before anybody asks for it
};
