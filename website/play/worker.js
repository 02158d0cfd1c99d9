// The engine, away from the page, so that a question which takes long can be ended with it.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const say = (state) => postMessage({ state });

async function load() {
  say("Loading Python (14 MB, once) ...");
  const wheels = fetch("wheels.json").then((answer) => answer.json());
  const files = wheels.then((names) => Promise.all(names.map((name) => fetch(`wheels/${name}`).then((a) => a.arrayBuffer()))));
  const source = fetch("engine.py").then((answer) => answer.text());
  const python = await loadPyodide({ indexURL: new URL("./pyodide/", import.meta.url).href });
  say("Loading crondor ...");
  const extractDir = python.runPython("import site; site.getsitepackages()[0]"); // else the folder that it is in
  for (const file of await files) python.unpackArchive(file, "wheel", { extractDir });
  python.FS.writeFile("/home/pyodide/engine.py", await source);
  const engine = python.pyimport("engine");
  return (question) => engine.answer(JSON.stringify(question));
}

const ready = load();
ready.then(() => postMessage({ ready: true }), (error) => postMessage({ failed: String(error) }));

onmessage = async ({ data: { id, question } }) => {
  const answer = await ready;
  try {
    postMessage({ id, answer: JSON.parse(answer(question)) });
  } catch (error) {
    const lines = String(error.message ?? error).trim().split("\n");
    postMessage({ id, answer: { refused: `This went wrong, and it is a fault of crondor: ${lines.at(-1)}` } });
  }
};
