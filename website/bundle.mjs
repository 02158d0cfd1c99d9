// `node bundle.mjs FOLDER`: pyodide unpacks FOLDER/wheels and runs bundle.py; its archives come to stand in their place.
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadPyodide } from "pyodide";

const folder = process.argv[2];
const read = (...path) => new Uint8Array(readFileSync(join(...path)));
const python = await loadPyodide();
const extractDir = python.runPython("import site; site.getsitepackages()[0]");
for (const name of readdirSync(join(folder, "wheels"))) python.unpackArchive(read(folder, "wheels", name).buffer, "wheel", { extractDir });
python.FS.writeFile(`${extractDir}/engine.py`, read(folder, "engine.py"));
python.FS.writeFile("/home/pyodide/bundle.py", read(fileURLToPath(new URL("bundle.py", import.meta.url))));
const [now, later] = python.pyimport("bundle").archives().toJs();
writeFileSync(join(folder, "now.zip"), now);
writeFileSync(join(folder, "later.zip"), later);
for (const name of ["wheels", "engine.py"]) rmSync(join(folder, name), { recursive: true });
