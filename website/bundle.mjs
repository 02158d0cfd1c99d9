// `node bundle.mjs FOLDER`: pyodide unpacks FOLDER/wheels and runs bundle.py; archives and a snapshot come to stand in
// their place. The snapshot is Python's memory after some answers: to start from it takes a tenth of the time.
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { loadPyodide } from "pyodide";

const folder = process.argv[2];
const read = (...path) => new Uint8Array(readFileSync(join(...path)));
const packages = (python) => python.runPython("import site; site.getsitepackages()[0]");
const compress = (name, bytes) => writeFileSync(join(folder, name), gzipSync(bytes, { level: 9 }));

const python = await loadPyodide();
const extractDir = packages(python);
for (const name of readdirSync(join(folder, "wheels"))) python.unpackArchive(read(folder, "wheels", name).buffer, "wheel", { extractDir });
python.FS.writeFile(`${extractDir}/engine.py`, read(folder, "engine.py"));
python.FS.writeFile("/home/pyodide/bundle.py", read(fileURLToPath(new URL("bundle.py", import.meta.url))));
const bundle = python.pyimport("bundle");
const [now, later] = bundle.archives().toJs();
writeFileSync(join(folder, "now.zip"), now);
writeFileSync(join(folder, "later.zip"), later);

// Another Python, since what the first one did is left in its memory. Files come to it past its memory.
const fresh = await loadPyodide({ _makeSnapshot: true });
copy(extractDir, packages(fresh));
fresh.unpackArchive(now.slice().buffer, "zip", { extractDir }); // so that its modules are in the snapshot, too
const engine = fresh.pyimport("engine");
for (const question of bundle.questions()) engine.answer(question);
engine.destroy();
fresh.runPython("import gc, site; del site; gc.collect()");
compress("snapshot.gz", fresh.makeMemorySnapshot());
compress("pyodide/pyodide.asm.wasm.gz", read(folder, "pyodide", "pyodide.asm.wasm"));
for (const name of ["wheels", "engine.py", "pyodide/pyodide.asm.wasm"]) rmSync(join(folder, name), { recursive: true });

function copy(from, to) {
  fresh.FS.mkdirTree(to);
  for (const name of python.FS.readdir(from).filter((each) => each !== "." && each !== "..")) {
    const [source, target] = [`${from}/${name}`, `${to}/${name}`];
    if (python.FS.isDir(python.FS.stat(source).mode)) copy(source, target);
    else fresh.FS.writeFile(target, python.FS.readFile(source));
  }
}
