// The playground in a browser: usable while it loads, the command's instants, faults and fixes, addresses that restore.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, inspect, open, served } from "./browser.mjs";

const NOW = "2026-11-20T12:00";
const RUNS = 8;
const FIELDS = ["cron_minute", "cron_hour", "cron_day_of_month", "cron_month", "cron_day_of_week"];
const PATIENT = { timeout: 120_000 };

export async function playground(browser, base, crondor) {
  const began = Date.now();
  const address = `playground/index.html#tab=schedule&zone=UTC&now=${NOW}&schedule-text=0+6+*+*+*`;
  const page = await open(browser, base, address);
  check("usable while it loads", await page.locator("#schedule-text").isEditable());
  const rest = page.waitForResponse(/later\.zip/, PATIENT);
  await page.waitForSelector("#schedule-answer progress", PATIENT);
  const said = (await page.locator("#schedule-answer .loading").textContent()).match(/[\d.]+(?= MB)/g).map(Number);
  await page.waitForSelector("#schedule-answer .sentence", PATIENT);
  const first = Date.now() - began;
  await rest;
  const size = (...names) => names.reduce((sum, name) => sum + (served.get(`/playground/${name}`) ?? 0), 0) / 1e6;
  const sizes = [size("pyodide/pyodide.asm.mjs", "pyodide/pyodide.asm.wasm.gz", "snapshot.gz", "now.zip"), size("later.zip", "pyodide/python_stdlib.zip")];
  check("it says how much it loads", said.length === 2 && sizes.every((each, at) => Math.abs(each - said[at]) <= 0.1), `${said} MB instead of ${sizes}`);
  check("a shared address restores", (await page.locator(".sentence").textContent()) === "at 06:00 every day");
  const reloaded = Date.now();
  await page.reload();
  await page.waitForSelector("#schedule-answer .sentence", PATIENT);
  const again = Date.now() - reloaded;

  const spent = await instants(page, crondor);
  await schedules(page);
  await submitFiles(page, browser, base);
  await routes(page);
  await page.context().close();
  await addresses(browser, base);
  await failures(browser, base);
  return { first, again, median: spent[50], most: spent[99] };
}

const shown = (page, tab) => page.locator(`#${tab}-answer`);

// Do something, and wait for the answer to it.
async function settled(page, tab, act) {
  const before = await shown(page, tab).getAttribute("data-shown");
  await act();
  await page.waitForFunction(([id, old]) => { const box = document.getElementById(id); return box.dataset.shown !== old && !box.classList.contains("busy"); }, [`${tab}-answer`, before ?? undefined], PATIENT);
}

const typed = (page, tab, text, where = `#${tab}-text`) => settled(page, tab, () => page.fill(where, text));

// Crontab lines, the same in every run.
function lines(count) {
  let seed = 22;
  const random = (below) => { seed = (seed * 1103515245 + 12345) % 2147483648; return Math.floor((seed / 2147483648) * below); };
  const field = (low, high) => [() => "*", () => String(low + random(high - low + 1)), () => `*/${2 + random(9)}`, () => { const a = low + random(high - low); return `${a}-${Math.min(high, a + 1 + random(5))}`; }, () => `${low + random(3)},${high - random(3)}`][random(5)]();
  return Array.from({ length: count }, () => [field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6)].join(" "));
}

// What the command says of all the lines: one submit file with a job for each, one process instead of a hundred.
function commanded(crondor, texts) {
  const folder = mkdtempSync(join(tmpdir(), "crondor-site-"));
  try {
    const file = join(folder, "lines.sub");
    writeFileSync(file, texts.map((text) => [...text.split(" ").map((value, at) => `${FIELDS[at]} = ${value}`), "queue", ""].join("\n")).join("\n"));
    const out = execFileSync(crondor, ["--no-config", "next", file, "-n", String(RUNS), "--now", NOW, "--tz", "UTC", "--format", "json"], { encoding: "utf-8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1e8 });
    return JSON.parse(out).jobs.map((job) => job.runs.filter((run) => run.manual).map((run) => run.manual.time));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function instants(page, crondor) {
  const texts = lines(100);
  const expected = commanded(crondor, texts);
  check("the command answers for each line", expected.length === texts.length && expected.every((times) => times.length === RUNS));
  const spent = [];
  for (const [at, text] of texts.entries()) {
    const started = Date.now();
    await typed(page, "schedule", text);
    spent.push(Date.now() - started);
    const times = await page.$$eval("#schedule-answer tr[id^=run-]", (rows) => rows.map((row) => row.id.slice(4)));
    check(`the command's instants for ${text}`, times.join() === expected[at]?.join(), `${times} instead of ${expected[at]}`);
  }
  return spent.sort((a, b) => a - b);
}

async function schedules(page) {
  const sentence = () => page.locator(".sentence").textContent();
  await typed(page, "schedule", "last Friday of the month at 18:00");
  check("words", (await sentence()) === "at 18:00 on the last Friday of the month");
  await page.waitForSelector(".submit-lines", PATIENT);
  check("compiled", (await page.locator(".submit-lines").textContent()).includes("cron_day_of_week = 5"));
  await typed(page, "schedule", "every weekday at 09:00 except holidays:DE");
  check("holidays", (await sentence()).includes("public holidays of Germany"), await sentence());
  await typed(page, "schedule", "cron_hour = 6\ncron_minute = 5");
  check("lines of fields", (await sentence()) === "at 06:05 every day");
  await page.waitForSelector(".submit-lines", PATIENT);
  await page.click("text=Copy the submit lines");
  check("copy", /cron_minute = 5\ncron_hour = 6\n/.test(await page.evaluate(() => navigator.clipboard.readText())));
  await typed(page, "schedule", "cron_minute = 0\ncron_hour = 6\ncron_window = 900");
  await page.waitForSelector(".submit-lines", PATIENT);
  check("the window of pasted lines", (await page.locator(".submit-lines").textContent()).includes("cron_window = 900\n"));
  await typed(page, "schedule", "30 7 * * 1-5", "#schedule-text");
  await typed(page, "schedule", "2026-11-29T12:00", "#now");
  const rows = await page.$$eval("#schedule-answer tbody tr", (found) => found.map((row) => [...row.cells].map((cell) => cell.textContent)));
  check("retries are one row", rows.length === RUNS + 1 && /^no run,.*\(retry, repeated every 2 min\),,,$/.test(rows[1].join()), rows[1].join());
  await typed(page, "schedule", NOW, "#now");
  await typed(page, "schedule", "europe/berlin", "#zone");
  check("a zone in small letters", (await shown(page, "schedule").textContent()).includes("+0100"));
  await typed(page, "schedule", "UTC", "#zone");
  await typed(page, "schedule", "0 0 30 2 *");
  check("what never runs has no submit lines, and no fault for want of them", !(await shown(page, "schedule").textContent()).includes("In a submit file"));
  await typed(page, "schedule", "60 6 * * *");
  check("a fault is shown", (await shown(page, "schedule").textContent()).includes("minute 60 is out of range"));
  await inspect(page, "playground: a schedule with a fault");
  await typed(page, "schedule", "<img src=x onerror=document.title=1>");
  check("text stays text", (await page.locator("#schedule-answer img").count()) === 0 && (await page.title()) !== "1");
  await typed(page, "schedule", "0 6 1-10/3 * 1");
  await inspect(page, "playground: a schedule");
}

async function submitFiles(page, browser, base) {
  await settled(page, "submit", () => page.click("#tab-submit"));
  check("findings", (await page.locator("#submit-answer .findings li").count()) >= 3);
  check("in place", (await page.locator(".editor mark").allTextContents()).includes("MON"));
  await inspect(page, "playground: a submit file");
  for (const title of ["Fix: write cron_minute", "Fix: write cron_day_of_week = 1"]) await settled(page, "submit", () => page.click(`text="${title}"`));
  check("fixes mend", /cron_minute {5}= 0[^]*cron_day_of_week = 1\n/.test(await page.inputValue("#submit-text")) && !(await shown(page, "submit").textContent()).includes("CRN104"));
  check("time line", (await page.locator("#submit-answer svg rect.match").count()) >= RUNS);
  const address = page.url();
  await typed(page, "submit", "executable = /bin/true\nqueue\n");
  const other = await open(browser, base, address.slice(base.length + 1));
  await other.waitForSelector("#submit-answer rect.match", { ...PATIENT, state: "attached" });
  check("a shared submit file", (await other.inputValue("#submit-text")).includes("cron_day_of_week = 1"));
  await other.context().close();
}

async function routes(page) {
  await settled(page, "route", () => page.click("#tab-route"));
  const text = () => shown(page, "route").textContent();
  check("route", (await text()).includes("Job 71.0 goes on Slurm") && (await page.locator("#route-answer .diff tr", { hasText: "RouteName" }).locator("ins").textContent()) === '"Slurm"');
  await inspect(page, "playground: routes");
  await typed(page, "route", "JOB_ROUTER_ROUTE_NAMES = A, B\nJOB_ROUTER_ROUTE_A = REQUIREMENTS true\n", "#route-config");
  check("a finding in place", (await page.locator("#route .editor mark").allTextContents()).includes("B"), await text());
  await inspect(page, "playground: routes with a finding");
  const jobs = await page.inputValue("#route-jobs");
  await typed(page, "route", 'ClusterId = 1\nProcId = 0\nOwner = "alice\n', "#route-jobs");
  check("a mistake of a job in place, and not as text", (await page.locator("#route-jobs").locator("..").locator("mark").textContent()) === '"' && !/jobs\.ads|rejected:/.test(await text()), await text());
  await typed(page, "route", jobs, "#route-jobs");
  await typed(page, "route", 'JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A = REQUIREMENTS regexp("a.*e", Owner)\n', "#route-config");
  check("no regular expressions", (await text()).includes("does not run in a browser"), await text());
}

// A page whose program did not arrive, or may not run, says so.
async function withoutProgram(browser, base) {
  for (const [options, words] of [[{}, "crondor did not start"], [{ javaScriptEnabled: false }, "needs JavaScript"]]) {
    const page = await (await browser.newContext(options)).newPage();
    await page.route("**/app.js?v=*", (route) => route.abort());
    await page.goto(`${base}/playground/index.html`);
    await page.locator("main p", { hasText: words }).waitFor(PATIENT).catch(() => check(`it says "${words}"`, false));
    await page.context().close();
  }
}

// What is shared is what was shown, whatever the page has been used for; a link within the page is no address of it.
async function addresses(browser, base) {
  const page = await open(browser, base, "playground/index.html");
  await page.waitForSelector("#schedule-answer .sentence", PATIENT);
  check("an address has its zone at once", page.url().includes("zone=UTC"), page.url());
  await typed(page, "schedule", "900", "#window");
  await typed(page, "schedule", "");
  await page.reload();
  await page.waitForFunction(() => document.querySelector("#schedule-answer").dataset.shown, undefined, PATIENT);
  check("an empty text stays empty", (await page.inputValue("#schedule-text")) === "" && (await page.inputValue("#window")) === "900");
  await settled(page, "schedule", () => page.evaluate(() => { location.hash = "#tab=schedule&zone=UTC&schedule-text=0+5+*+*+*"; }));
  check("nothing is left of what was shown before", (await page.inputValue("#window")) === "");
  await settled(page, "submit", () => page.click("#tab-submit"));
  await page.focus(".skip");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.startsWith("#tab=submit"), undefined, PATIENT).catch(() => check("a link within the page keeps tab and address", false, page.url()));
  check("the tab stays", await page.locator("#submit").isVisible());
  await page.context().close();
}

// What does not arrive is said, and asked for again when somebody wants it; files of one version only; two tabs at once.
async function failures(browser, base) {
  for (const file of ["pyodide/pyodide.mjs", "pyodide/pyodide.asm.wasm.gz", "snapshot.gz", "worker.js", "later.zip"]) {
    const context = await browser.newContext();
    const page = await context.newPage();
    page.on("pageerror", (error) => check(`without ${file}`, false, error.message));
    const fail = (route) => route.fulfill({ status: 503, body: "" });
    await context.route(`**/${file}?v=*`, fail);
    await page.goto(`${base}/playground/index.html#tab=submit`);
    await page.waitForSelector("text=Try again", PATIENT).catch(() => check(`without ${file} it says so`, false));
    await context.unroute(`**/${file}?v=*`, fail);
    await page.click("text=Try again", PATIENT);
    await page.waitForSelector("#submit-answer .findings", PATIENT).catch(() => check(`an answer once ${file} is there`, false));
    await context.close();
  }
  await withoutProgram(browser, base);
  const context = await browser.newContext();
  const asked = [];
  context.on("request", (request) => asked.push(request.url().slice(base.length)));
  const pages = await Promise.all([context.newPage(), context.newPage()]);
  await Promise.all(pages.map((page) => page.goto(`${base}/playground/index.html`)));
  for (const page of pages) await page.waitForSelector("#schedule-answer .sentence", PATIENT).catch(() => check("two tabs at once", false));
  const versions = new Set(asked.filter((path) => !/index\.html|icon\.svg/.test(path)).map((path) => path.split("?v=")[1]));
  check("all files have the version of the page", versions.size === 1 && !versions.has(undefined), asked.join(" "));
  await context.close();
}
