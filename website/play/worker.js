// The engine, away from the page, so that a question which takes long can be ended with it.
import { loadPyodide } from "./pyodide/pyodide.mjs";

// What is loaded before the first answer and after it: the build measures both and writes them here.
const FIRST_MB = 0;
const LATER_MB = 0;
const say = (state) => postMessage({ state });
const bytes = (name) => fetch(name).then((answer) => { if (!answer.ok) throw new Error(`${name}: ${answer.status}`); return answer.arrayBuffer(); });
const CRONTAB = /^[\d*/,\-\s]*$/; // what now.zip is enough for; all else waits for later.zip

async function load() {
  say(`Loading Python (${FIRST_MB} MB, and ${LATER_MB} MB after the first answer) ...`);
  const now = bytes("now.zip");
  now.catch(() => {}); // told below, where it is waited for
  const python = await loadPyodide({ indexURL: new URL("./pyodide/", import.meta.url).href });
  say("Loading crondor ...");
  const extractDir = python.runPython("import site; site.getsitepackages()[0]"); // else the folder that it is in
  python.unpackArchive(await now, "zip", { extractDir });
  const engine = python.pyimport("engine");
  let rest;
  const complete = () => (rest ??= bytes("later.zip").then((archive) => python.unpackArchive(archive, "zip", { extractDir }), (error) => { rest = undefined; throw error; }));
  return { complete, answer: (question) => JSON.parse(engine.answer(JSON.stringify(question))) };
}

const ready = load();
ready.then(() => postMessage({ ready: true }), (error) => postMessage({ failed: String(error) }));

onmessage = async ({ data: { id, question } }) => {
  const { answer, complete } = await ready;
  try {
    if (question.kind !== "schedule" || !CRONTAB.test(question.text)) await complete();
    postMessage({ id, answer: answer(question) });
  } catch (error) {
    const lines = String(error.message ?? error).trim().split("\n");
    postMessage({ id, answer: { refused: `This went wrong, and it is a fault of crondor: ${lines.at(-1)}` } });
  }
  setTimeout(() => complete().catch(() => {})); // before anybody asks for it
};
