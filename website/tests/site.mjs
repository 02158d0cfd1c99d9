// `make site-test`: the built site in a real Chromium, `node site.mjs build/site .venv/bin/crondor`.
// SHOTS=FOLDER keeps a picture of each kind of page, wide and narrow, light and dark.
import { resolve } from "node:path";
import { faultCount, launch, serve } from "./browser.mjs";
import { documentation } from "./documentation.mjs";
import { playground } from "./playground.mjs";

const [site, crondor] = process.argv.slice(2).map((path) => resolve(path));
const began = Date.now();
const server = await serve(site);
const base = `http://127.0.0.1:${server.address().port}`;
const browser = await launch();
try {
  const { first, again, median, most } = await playground(browser, base, crondor);
  console.log(`playground: first answer after ${first} ms, ${again} ms with a warm cache; from a keystroke to its answer ${median} ms (median of 100), ${most} ms at most`);
  const pages = await documentation(browser, base, site);
  console.log(`documentation: ${pages} pages opened`);
} finally {
  await browser.close();
  server.close();
}
console.log(`${faultCount() || "no"} ${faultCount() > 1 ? "faults" : "fault"} in ${Math.round((Date.now() - began) / 1000)} s`);
process.exitCode = faultCount() ? 1 : 0;
