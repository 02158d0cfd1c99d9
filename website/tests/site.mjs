// `make site-test`: the built site in a real Chromium. Each page without an error on the console and nothing asked of
// another host; the playground gives the command's instants; a fix mends; an address restores; narrow screens; axe.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, normalize } from "node:path";
import { chromium } from "playwright-core";

const [site, crondor] = process.argv.slice(2);
const CHROMIUM = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".wasm": "application/wasm", ".json": "application/json" };
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf-8");
const NOW = "2026-11-20T12:00";
let faults = 0;

function check(what, isRight, detail = "") {
  if (isRight) return;
  faults += 1;
  console.log(`FAULT ${what} ${detail}`);
}

function serve() {
  const server = createServer((request, response) => {
    let file = join(site, normalize(decodeURIComponent(new URL(request.url, "http://h").pathname)));
    if (existsSync(file) && statSync(file).isDirectory()) file = join(file, "index.html");
    if (!existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
    return response.end(readFileSync(file));
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

const server = await serve();
const base = `http://127.0.0.1:${server.address().port}`;
if (!CHROMIUM) throw new Error("no Chromium here (Debian, Ubuntu: apt install chromium), or name one: CHROMIUM=/path");
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });

async function open(path, { width = 1280, scheme = "light" } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, reducedMotion: "reduce", permissions: ["clipboard-read", "clipboard-write"], timezoneId: "UTC" });
  const page = await context.newPage();
  page.on("console", (message) => check(path, message.type() !== "error", message.text()));
  page.on("pageerror", (error) => check(path, false, error.message));
  page.on("request", (request) => check(path, /^(data|blob):/.test(request.url()) || request.url().startsWith(base), request.url()));
  await page.goto(`${base}/${path}`);
  return page;
}

async function overflow(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

async function accessible(page, what) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  for (const { id, impact, nodes } of violations.filter((each) => ["serious", "critical"].includes(each.impact))) check(`axe ${what}`, false, `${id} (${impact}): ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
}

// The documentation: every page, wide; the front pages of each kind narrow, dark, and by axe

const pages = readdirSync(site, { recursive: true }).filter((name) => name.endsWith(".html") && !name.startsWith("playground"));
const one = await open("index.html");
for (const path of pages) await one.goto(`${base}/${path}`);
await one.goto(`${base}/search.html?q=day-0+defect`);
await one.waitForSelector("#search-results li");
check("search", (await one.locator("#search-results li").count()) > 2);
for (const path of ["index.html", "tutorial.html", "how-to/submit-jobs.html", "cli/next.html", "rules/index.html", "rules/CRN101/index.html", "interface/crondor.check.html", "deferral.html"]) {
  for (const scheme of ["light", "dark"]) {
    const page = await open(path, { width: 320, scheme });
    check(`320 px ${path}`, (await overflow(page)) <= 0, String(await overflow(page)));
    if (path !== "interface/crondor.check.html") await accessible(page, `${scheme} ${path}`);
    await page.context().close();
  }
}
await one.context().close();
console.log(`documentation: ${pages.length} pages opened`);

// The playground

const begun = Date.now();
const page = await open(`playground/index.html#tab=schedule&zone=UTC&now=${NOW}&schedule-text=0+6+*+*+*`);
const shown = (tab) => page.locator(`#${tab}-answer`);
async function settled(tab, act) {
  const before = await shown(tab).getAttribute("data-shown");
  await act();
  await page.waitForFunction(([id, old]) => { const box = document.getElementById(id); return box.dataset.shown !== old && !box.classList.contains("busy"); }, [`${tab}-answer`, before ?? undefined], { timeout: 120_000 });
}
check("usable while it loads", await page.locator("#schedule-text").isEditable());
await page.waitForSelector("#schedule-answer .sentence", { timeout: 120_000 });
const first = Date.now() - begun;
check("a shared address restores", (await page.locator(".sentence").textContent()) === "at 06:00 every day");

let seed = 22;
const random = (below) => { seed = (seed * 1103515245 + 12345) % 2147483648; return Math.floor((seed / 2147483648) * below); };
const field = (low, high) => [() => "*", () => String(low + random(high - low + 1)), () => `*/${2 + random(9)}`, () => { const a = low + random(high - low); return `${a}-${Math.min(high, a + 1 + random(5))}`; }, () => `${low + random(3)},${high - random(3)}`][random(5)]();
const spent = [];
for (let line = 0; line < 100; line += 1) {
  const text = [field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6)].join(" ");
  const started = Date.now();
  await settled("schedule", () => page.fill("#schedule-text", text));
  spent.push(Date.now() - started);
  const times = await page.$$eval("#schedule-answer tr[id^=run-]", (rows) => rows.map((row) => row.id.slice(4)));
  const command = execFileSync(crondor, ["--no-config", "next", "--crontab", text, "-n", "8", "--now", NOW, "--tz", "UTC", "--format", "epoch"], { encoding: "utf-8", stdio: ["ignore", "pipe", "ignore"] });
  check(`the command's instants for ${text}`, times.join() === command.trim().split("\n").join() && times.length === 8, `${times} ${command}`);
}
spent.sort((a, b) => a - b);
console.log(`playground: first answer after ${first} ms; from a keystroke to its answer ${spent[50]} ms (median of 100), ${spent[99]} ms at most`);

for (const [text, sentence] of [["last Friday of the month at 18:00", "at 18:00 on the last Friday of the month"], ["cron_hour = 6\ncron_minute = 5", "at 06:05 every day"]]) {
  await settled("schedule", () => page.fill("#schedule-text", text));
  check(text, (await page.locator(".sentence").textContent()) === sentence);
}
await settled("schedule", () => page.fill("#schedule-text", "last Friday of the month at 18:00"));
await page.waitForSelector(".submit-lines", { timeout: 60_000 });
check("compiled", (await page.locator(".submit-lines").textContent()).includes("cron_day_of_week = 5"));
await settled("schedule", () => page.fill("#schedule-text", "cron_hour = 6\ncron_minute = 5"));
await page.click("text=Copy the submit lines");
check("copy", /cron_minute +=\s5\ncron_hour +=\s6\n/.test(await page.evaluate(() => navigator.clipboard.readText())));
await settled("schedule", () => page.fill("#schedule-text", "60 6 * * *"));
check("a fault is shown", (await shown("schedule").textContent()).includes("minute 60 is out of range"));
await settled("schedule", () => page.fill("#schedule-text", "<img src=x onerror=document.title=1>"));
check("text stays text", (await page.locator("#schedule-answer img").count()) === 0 && (await page.title()) !== "1");

await settled("submit", () => page.click("#tab-submit"));
check("findings", (await page.locator("#submit-answer .findings li").count()) >= 3);
check("in place", (await page.locator(".editor mark").allTextContents()).includes("MON"));
for (const title of ["Fix: write cron_minute", "Fix: write cron_day_of_week = 1"]) await settled("submit", () => page.click(`text="${title}"`));
check("fixes mend", /cron_minute {5}= 0[^]*cron_day_of_week = 1\n/.test(await page.inputValue("#submit-text")) && !(await shown("submit").textContent()).includes("CRN104"));
check("time line", (await page.locator("#submit-answer svg rect.match").count()) >= 8);
const address = await page.evaluate(() => location.href);
await settled("submit", () => page.fill("#submit-text", "executable = /bin/true\nqueue\n"));
const other = await open(address.slice(base.length + 1));
await other.waitForSelector("#submit-answer rect.match", { timeout: 120_000, state: "attached" });
check("a shared submit file", (await other.inputValue("#submit-text")).includes("cron_day_of_week = 1"));
await other.context().close();

await settled("route", () => page.click("#tab-route"));
check("route", (await shown("route").textContent()).includes("Job 71.0: goes on Slurm") && (await shown("route").textContent()).includes('+RouteName = "Slurm"'));
await settled("route", () => page.fill("#route-config", 'JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A = REQUIREMENTS regexp("a.*e", Owner)\n'));
check("no regular expressions", (await shown("route").textContent()).includes("does not run in a browser"), await shown("route").textContent());
await page.context().close();

for (const tab of ["schedule", "submit", "route"]) {
  for (const scheme of ["light", "dark"]) {
    const narrow = await open(`playground/index.html#tab=${tab}&zone=UTC&now=${NOW}`, { width: 320, scheme });
    await narrow.waitForSelector(`#${tab}-answer[data-shown]`, { timeout: 120_000 });
    check(`320 px playground ${tab}`, (await overflow(narrow)) <= 0, String(await overflow(narrow)));
    await accessible(narrow, `${scheme} playground ${tab}`);
    await narrow.context().close();
  }
}
await browser.close();
server.close();
if (faults) { console.log(`${faults} faults`); process.exit(1); }
console.log("no fault");
