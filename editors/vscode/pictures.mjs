// Draws images/*.png: the icon from icon.svg, and VS Code with the extension and `crondor lsp` as they are.
//
//   make vscode && CODE_SERVER="node path/to/code-server/out/node/entry.js" node editors/vscode/pictures.mjs
//
// It needs Chromium, website/node_modules (make site), .venv with the extra lsp, and code-server, which is VS Code in a
// browser (npm install code-server, with the Node that it names). Without CODE_SERVER only the icon is drawn.
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "../../website/tests/browser.mjs";

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

cron_minute = 0
cron_hour = 8-16/2
cron_day_of_week = 1-5
cron_window = 360
on_exit_remove = ExitCode == 77
periodic_release = HoldReasonCode == 20

queue
`;
const SETTINGS = {
  "workbench.colorTheme": "Default Light Modern",
  "workbench.startupEditor": "none",
  "workbench.activityBar.location": "hidden",
  "workbench.statusBar.visible": true,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "window.commandCenter": false,
  "window.menuBarVisibility": "hidden",
  "workbench.layoutControl.enabled": false,
  "workbench.tips.enabled": false,
  "chat.disableAIFeatures": true,
  "chat.commandCenter.enabled": false,
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "editor.minimap.enabled": false,
  "editor.fontSize": 15,
  "editor.cursorBlinking": "solid",
  "editor.hover.delay": 100,
  "editor.hover.above": false,
  "explorer.excludeGitIgnore": false,
  "files.exclude": { ".venv": true },
  "breadcrumbs.enabled": false,
};

const browser = await launch();
try {
  await drawIcon();
  if (process.env.CODE_SERVER) {
    await withEditor(drawEditor);
  }
} finally {
  await browser.close();
}

async function drawIcon() {
  const page = await browser.newPage({ viewport: { width: 256, height: 256 } });
  await page.setContent(`<style>body { margin: 0 }</style>${readFileSync(join(HERE, "images/icon.svg"), "utf-8")}`);
  await page.screenshot({ path: join(HERE, "images/icon.png"), omitBackground: true });
}

async function withEditor(draw) {
  const folder = mkdtempSync(join(tmpdir(), "crondor-pictures-"));
  const project = join(folder, "lab-jobs");
  const user = join(folder, "user");
  mkdirSync(join(user, "User"), { recursive: true });
  mkdirSync(project);
  symlinkSync(join(ROOT, ".venv"), join(project, ".venv")); // where the extension looks for crondor
  writeFileSync(join(user, "User/settings.json"), JSON.stringify(SETTINGS));
  writeFileSync(join(project, "nightly.sub"), NIGHTLY);
  writeFileSync(join(project, "probe.sub"), PROBE);
  copyFileSync(join(ROOT, "examples/routes-mistakes.conf"), join(project, "routes.conf"));
  const [program, ...first] = process.env.CODE_SERVER.split(" ");
  const port = await freePort();
  const given = ["--user-data-dir", user, "--extensions-dir", join(folder, "extensions")];
  execFileSync(program, [...first, ...given, "--install-extension", join(HERE, "crondor.vsix")], { cwd: folder });
  const serving = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check"];
  const env = { ...process.env, TZ: "Europe/Berlin" };
  const server = spawn(program, [...first, ...given, ...serving], { cwd: folder, env, detached: true, stdio: "ignore" });
  try {
    await draw(`http://127.0.0.1:${port}`, project);
  } finally {
    process.kill(-server.pid);
    await new Promise((resolve) => server.once("exit", resolve));
    rmSync(folder, { recursive: true, force: true });
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function drawEditor(base, project) {
  const page = await browser.newPage({ viewport: { width: 980, height: 440 }, timezoneId: "Europe/Berlin" });
  const open = async (file) => {
    const uri = `vscode-remote://${new URL(base).host}${project}/${file}`;
    const payload = encodeURIComponent(JSON.stringify([["openFile", uri]]));
    await page.goto(`${base}/?folder=${project}&payload=${payload}`);
    await page.locator(".squiggly-error, .squiggly-warning").first().waitFor({ timeout: 60_000 });
    if (await page.locator(".explorer-viewlet").isVisible()) {
      await page.keyboard.press("Control+KeyB"); // without the list of files
    }
  };
  for (let attempt = 0; attempt < 60 && !(await fetch(base).catch(() => null)); attempt += 1) {
    await page.waitForTimeout(500);
  }
  await open("nightly.sub");
  await hover(page, "MON");
  await shoot(page, "findings");

  await page.setViewportSize({ width: 1360, height: 480 });
  await open("probe.sub");
  await page.keyboard.press("F1");
  await page.keyboard.type("crondor: Next runs");
  await page.keyboard.press("Enter");
  await page.locator(".tab", { hasText: "Next runs" }).waitFor();
  await page.waitForTimeout(3000); // the frame of a panel is drawn by itself
  await shoot(page, "runs");

  await page.setViewportSize({ width: 980, height: 560 });
  await open("routes.conf");
  await page.keyboard.press("Control+KeyG");
  await page.keyboard.type("22");
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
