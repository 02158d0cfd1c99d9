// What the tests of the site share: a server on the loopback, a Chromium, pages that tell their faults, axe.
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, normalize } from "node:path";
import { chromium } from "playwright-core";

const CHROMIUM = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".wasm": "application/wasm", ".json": "application/json" };
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf-8");

let faults = 0;
export const faultCount = () => faults;
export function check(what, isRight, detail = "") {
  if (isRight) return;
  faults += 1;
  console.log(`FAULT ${what} ${detail}`);
}

export const served = new Map(); // bytes by path

export function serve(site) {
  const server = createServer((request, response) => {
    let file = join(site, normalize(decodeURIComponent(new URL(request.url, "http://h").pathname)));
    if (existsSync(file) && statSync(file).isDirectory()) file = join(file, "index.html");
    if (!existsSync(file)) return response.writeHead(404, { "content-type": "text/html" }).end(readFileSync(join(site, "404.html"))); // as hosts of static pages do
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream", "cache-control": "max-age=600" });
    const content = readFileSync(file);
    served.set(request.url.replace(/\?.*/, ""), content.length);
    return response.end(content);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

export async function launch() {
  if (!CHROMIUM) throw new Error("no Chromium here (Debian, Ubuntu: apt install chromium), or name one: CHROMIUM=/path");
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}

// A page of which every error on the console, and every request to another host, is a fault.
export async function open(browser, base, path, { width = 1280 } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: "light", reducedMotion: "reduce", permissions: base.startsWith("http") ? ["clipboard-read", "clipboard-write"] : [], timezoneId: "UTC" });
  const page = await context.newPage();
  page.on("console", (message) => check(page.url(), message.type() !== "error", message.text()));
  page.on("pageerror", (error) => check(page.url(), false, error.message));
  page.on("request", (request) => check(page.url(), /^(data|blob):/.test(request.url()) || request.url().startsWith(base), `asks ${request.url()}`));
  await page.goto(`${base}/${path}`);
  return page;
}

export async function overflows(page, what) {
  const pixels = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  check(`${what} is wider than its window`, pixels <= 0, `by ${pixels} px`);
}

// A page learns of a new size with its next frame, and a script that asks may be quicker: wait for what is then drawn.
const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));

// The page as it is, wide and narrow, light and dark: nothing overflows, axe finds nothing serious. Colours alone differ
// between light and dark, and they do not with the width: axe looks at dark ones once. SHOTS=FOLDER keeps pictures.
export async function inspect(page, what) {
  for (const width of [1280, 320]) {
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate(painted);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await overflows(page, `${what}, ${width} px,`);
      const rules = { light: {}, dark: { runOnly: ["color-contrast"] } }[colorScheme];
      if (colorScheme === "light" || width > 320) await accessible(page, `${what}, ${width} px, ${colorScheme}`, rules);
      if (process.env.SHOTS) await shoot(page, `${what}-${width}-${colorScheme}`);
    }
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.emulateMedia({ colorScheme: "light" });
}

async function shoot(page, name) {
  mkdirSync(process.env.SHOTS, { recursive: true });
  await page.screenshot({ path: join(process.env.SHOTS, `${name.replace(/\W+/g, "-")}.png`) });
}

async function accessible(page, what, options) {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AXE);
  const { violations } = await page.evaluate((how) => globalThis.axe.run(how), options);
  for (const { id, impact, nodes } of violations.filter((each) => ["serious", "critical"].includes(each.impact))) {
    check(`axe, ${what}:`, false, `${id} (${impact}): ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
  }
}
