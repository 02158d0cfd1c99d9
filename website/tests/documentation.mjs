// The documentation in a browser: every page, each kind of page by axe, the search, anchors, the version switch, from disk.
import { readdirSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { check, inspect, open, overflows } from "./browser.mjs";

// One of each kind: front page, tutorial, how-to, command, rules, rule, interface, explanation, example, pictures, changes.
const KINDS = ["index.html", "tutorial.html", "how-to/submit-jobs.html", "how-to/access-point.html", "cli/index.html", "cli/next.html", "cli/queue-status.html", "rules/index.html", "rules/CRN101/index.html", "interface/crondor.recurrence.html", "deferral.html", "simulate.html", "router.html", "examples/index.html", "examples/nightly.sub.html"];
const TABS = 3;
const PATIENT = { timeout: 30_000 };

export async function documentation(browser, base, site) {
  const pages = readdirSync(site, { recursive: true }).filter((name) => name.endsWith(".html") && !name.startsWith("playground"));
  const left = [...pages];
  await Promise.all(Array.from({ length: TABS }, async () => {
    const page = await open(browser, base, left.pop(), { width: 320 });
    await overflows(page, page.url());
    for (let path = left.pop(); path; path = left.pop()) {
      await page.goto(`${base}/${path}`);
      await overflows(page, path);
    }
    await page.context().close();
  }));

  const page = await open(browser, base, "index.html");
  check("the front page shows its result whole", await page.$eval("pre", (box) => box.scrollWidth <= box.clientWidth));
  for (const path of KINDS) {
    await page.goto(`${base}/${path}`);
    await inspect(page, path);
  }
  await searches(page, `${base}/search.html`);
  await inspect(page, "search.html");
  await anchors(page, base);
  await page.context().close();
  await notFound(browser, base);
  await versions(browser, base);
  await fromDisk(browser, site);
  return pages.length;
}

// What people ask, and the page that one of the first three results is.
const ASKED = {
  "day-0 defect": /\/dialects\.html/, "job did not run": /\/how-to\/submit-jobs\.html/, "job is held": /\/how-to\/submit-jobs\.html/, "why is my job idle": /\/how-to\/submit-jobs\.html/,
  missed: /\/deferral\.html#missed-runs/, timezone: /\/clock-changes\.html/, "daylight saving": /\/clock-changes\.html/, crontab: /\/crontab\.html/, window: /\/rules\/CRN30/, CRN303: /\/rules\/CRN303/,
  "last day of month": /\/rules\/CRN204/, holidays: /\/compile\.html/, "systemd timer": /\/compile\.html/, alert: /\/monitor\.html/, "python api": /\/python\.html/, "pre-commit": /\/repositories\.html/, install: /\/install\.html/,
};

async function searches(page, address) {
  for (const [question, expected] of Object.entries(ASKED)) {
    await page.goto(`${address}?q=${encodeURIComponent(question)}`);
    await page.waitForFunction(() => document.querySelectorAll("#search-results li").length > 2 || document.querySelector("#search-results h2")?.textContent === "Search Results", undefined, PATIENT);
    const first = await page.$$eval("#search-results li > a", (links) => links.slice(0, 3).map((link) => link.href));
    check(`the search finds ${question}`, first.some((href) => expected.test(href)), first.join(" "));
  }
}

async function anchors(page, base) {
  await page.goto(`${base}/dialects.html#the-day-0-defect`);
  const heading = page.locator("#the-day-0-defect h2").first();
  const isThere = () => { const { top } = document.querySelector("#the-day-0-defect h2").getBoundingClientRect(); return top > -1 && top < 300; };
  await page.waitForFunction(isThere, undefined, PATIENT).catch(() => check("an address with an anchor shows its section", false));
  await page.goto(`${base}/dialects.html`);
  await heading.hover();
  await heading.locator(".headerlink").click();
  check("a heading gives its address", page.url().endsWith("#the-day-0-defect"), page.url());
}

// An address of any depth, without a page: its links lead to the site, and what a person sees is no blank window.
async function notFound(browser, base) {
  const page = await (await browser.newContext({ reducedMotion: "reduce" })).newPage();
  for (const path of ["gone.html", "rules/CRN999/index.html", "cli/gone/deeper/x.html"]) {
    const answer = await page.goto(`${base}/${path}`);
    check("a missing page is said to be one", answer.status() === 404 && (await page.locator("h1").textContent()) === "Page not found", path);
    const links = await page.$$eval("a", (found) => found.map((each) => each.href));
    for (const link of links) check(`${path} leads to the site`, (await page.request.get(link)).ok(), link);
  }
  await inspect(page, "a missing page");
  await page.context().close();
}

async function versions(browser, base) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const known = [{ name: "2.0", path: "2.0/" }, { name: "1.0", path: "1.0/" }];
  await page.route("**/versions.json", (route) => route.fulfill({ json: known }));
  await page.route("**/2.0/**", async (route) => {
    const answer = await page.request.get(route.request().url().replace("/2.0/", "/"));
    if (!route.request().url().endsWith("versions.json")) await route.fulfill({ response: answer });
    else await route.fallback();
  });
  await page.goto(`${base}/2.0/cli/next.html`);
  const select = page.locator("#versions");
  await select.waitFor();
  check("the version switch names the versions", (await select.locator("option").allTextContents()).join() === "2.0,1.0");
  check("and the one that is shown", (await select.locator("option:checked").textContent()) === "2.0");
  await page.route("**/1.0/**", (route) => route.fulfill({ body: "the older one" }));
  await select.selectOption("1.0");
  await page.waitForURL("**/1.0/cli/next.html").catch(() => check("a version leads to the same page of it", false, page.url()));
  await context.close();
}

// From a folder, without any server: what somebody reads on a train.
async function fromDisk(browser, site) {
  const base = pathToFileURL(site).href.replace(/\/$/, "");
  const page = await open(browser, base, "tutorial.html");
  check("a page from disk has its style", (await page.locator("body").evaluate((body) => getComputedStyle(body).fontFamily)) !== "Times New Roman");
  await page.context().close();
  const context = await browser.newContext(); // it finds pages; their excerpts, which it would fetch, a browser refuses it
  await searches(await context.newPage(), `${base}/search.html`);
  await context.close();
}
