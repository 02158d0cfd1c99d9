// Draws images/*.png: the icon from icon.svg, and VS Code with the extension and `crondor lsp` as they are.
//
//   make vscode && CODE_SERVER="path/to/node path/to/code-server/out/node/entry.js" node editors/vscode/pictures.mjs
//
// It needs Chromium, website/node_modules (make site), and .venv with the extra lsp. vscode.mjs says what CODE_SERVER is;
// without it only the icon is drawn.
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { launch } from "../../website/tests/browser.mjs";
import { withEditor } from "./vscode.mjs";

const HERE = import.meta.dirname;
const ROOT = join(HERE, "../..");
const NIGHTLY = `executable = /opt/lab/reduce.sh
request_cpus = 1
request_memory = 2GB

cron_minute = 60
cron_hour = 6
cron_day_of_week = MON
cron_window = 300

log = nightly.log
queue
`;
const PROBE = `executable = /opt/lab/probe.sh
request_memory = 2GB
log = probe.log

cron_minute = 30
cron_hour = 22
cron_day_of_week = 0
cron_window = 360
on_exit_remove = ExitCode == 77
periodic_release = HoldReasonCode == 20

queue
`;
const SETTINGS = {
  "workbench.activityBar.location": "hidden",
  "window.commandCenter": false,
  "window.menuBarVisibility": "hidden",
  "workbench.layoutControl.enabled": false,
  "editor.minimap.enabled": false,
  "editor.fontSize": 15,
  "editor.cursorBlinking": "solid",
  "editor.hover.delay": 100,
  "editor.hover.above": false,
  "breadcrumbs.enabled": false,
};

const browser = await launch();
try {
  await drawIcon();
  if (process.env.CODE_SERVER) {
    const files = { "nightly.sub": NIGHTLY, "probe.sub": PROBE, "routes.conf": readFileSync(join(ROOT, "examples/routes-mistakes.conf")) };
    const prepare = (project) => symlinkSync(join(ROOT, ".venv"), join(project, ".venv")); // where crondor is looked for
    await withEditor(browser, { files, settings: SETTINGS, prepare }, drawEditor);
  }
} finally {
  await browser.close();
}

async function drawIcon() {
  const page = await browser.newPage({ viewport: { width: 256, height: 256 } });
  await page.setContent(`<style>body { margin: 0 }</style>${readFileSync(join(HERE, "images/icon.svg"), "utf-8")}`);
  await page.screenshot({ path: join(HERE, "images/icon.png"), omitBackground: true });
}

async function drawEditor({ page, open: visit }) {
  const open = async (file) => {
    await visit(file);
    await page.locator(".squiggly-error, .squiggly-warning").first().waitFor({ timeout: 60_000 });
    if (await page.locator(".explorer-viewlet").isVisible()) {
      await page.keyboard.press("Control+KeyB"); // without the list of files
    }
  };
  await page.setViewportSize({ width: 980, height: 440 });
  await open("nightly.sub");
  await hover(page, "MON");
  await shoot(page, "findings");

  await page.setViewportSize({ width: 1790, height: 590 });
  await open("probe.sub");
  await page.keyboard.press("F1");
  await page.keyboard.type("crondor: Next runs");
  await page.keyboard.press("Enter");
  await page.locator(".tab", { hasText: "Next runs" }).waitFor();
  await page.waitForTimeout(3000); // the frame of a panel is drawn by itself
  await shoot(page, "runs");

  await page.setViewportSize({ width: 980, height: 680 });
  await open("routes.conf");
  await page.keyboard.press("Control+KeyG");
  await page.keyboard.type("17");
  await page.keyboard.press("Enter");
  await hover(page, "MaxIdelJobs");
  await shoot(page, "routes");
}

async function hover(page, text) {
  await page.mouse.move(5, 5);
  await page.locator(".view-line span span", { hasText: text }).last().hover();
  await page.locator(".monaco-hover:visible").first().waitFor();
}

async function shoot(page, name) {
  await page.waitForTimeout(500); // what fades in has done so
  await page.screenshot({ path: join(HERE, `images/${name}.png`) });
}
