// Tries the extension in a real VS Code: CODE_SERVER=... node editors/vscode/try.mjs (vscode.mjs says what that is).
//
// It needs what pictures.mjs needs, and a second environment without the extra lsp: WITHOUT_LSP=path/to/environment.
import { readFileSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { launch } from "../../website/tests/browser.mjs";
import { withEditor } from "./vscode.mjs";

const VENV = join(import.meta.dirname, "../../.venv");
const files = {
  "job.sub": "executable = /bin/true\ncron_minute = 60\nqueue\n",
  "site.rules": "REQUIREMENTS JobUniverse == 5\nSET Foo 1\n",
  "routes.conf": "JOB_ROUTER_ROUTE_NAMES = Gone\n",
  "nginx.conf": "server {\n  listen 80;\n}\n",
  "night.dag": "JOB a missing.sub\n",
};
const isServer = (pid, project) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf-8").includes(`${project}/.venv/bin/crondor\0lsp`);
  } catch {
    return false;
  }
};
const servers = (project) => readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isServer(name, project)).map(Number);
const shown = (page, text) => page.getByText(text).first().waitFor({ timeout: 40_000 });
const finding = (page) => page.locator(".squiggly-error, .squiggly-warning").first().waitFor({ timeout: 40_000 });
const linked = (environment) => (project) => symlinkSync(environment, join(project, ".venv"));

const tries = {
  "a missing program is said, with a page that says how to install it": [
    {},
    async ({ page, open }) => {
      await open("job.sub");
      await shown(page, "The program crondor is not found");
      await page.getByText("How to install").first().click();
      await page.locator(".tab", { hasText: "Preview readme.md" }).waitFor();
    },
  ],
  "each of our languages has findings, and nginx.conf has its own": [
    { prepare: linked(VENV) },
    async ({ page, open }) => {
      for (const [name, language] of [["job.sub", "Submit"], ["routes.conf", "Configuration"], ["night.dag", "DAG"]]) {
        await open(name);
        await shown(page, `HTCondor ${language}`);
        await finding(page);
      }
      await open("site.rules");
      await shown(page, "HTCondor Transform");
      await open("nginx.conf");
      await shown(page, "Properties");
    },
  ],
  "a server that dies is started again, but not for ever": [
    { prepare: linked(VENV) },
    async ({ page, open, project }) => {
      await open("job.sub");
      await finding(page);
      for (let time = 0; time < 4; time += 1) {
        if (servers(project).length !== 1) throw new Error(`${servers(project).length} servers`);
        servers(project).forEach((pid) => process.kill(pid, "SIGKILL"));
        await page.waitForTimeout(4000);
      }
      await shown(page, "has ended 4 times by itself");
      if (servers(project).length) throw new Error("it still runs");
      await page.getByText("Try again").first().click();
      await page.waitForTimeout(4000);
      if (servers(project).length !== 1) throw new Error("it does not run again");
    },
  ],
  "a folder that is not trusted names no program, until it is": [
    { prepare: linked(VENV), settings: { "security.workspace.trust.enabled": true } },
    async ({ page, open }) => {
      await open("job.sub");
      await shown(page, "This folder is not trusted");
      await page.getByText("Manage", { exact: true }).click();
      await page.getByRole("button", { name: "Trust", exact: true }).click();
      await page.locator("[id='status.problems'] [aria-label*='Errors: 1']").waitFor({ timeout: 40_000 });
    },
  ],
};
if (process.env.WITHOUT_LSP) {
  tries["an installation without the extra says so"] = [
    { prepare: linked(process.env.WITHOUT_LSP) },
    async ({ page, open }) => {
      await open("job.sub");
      await shown(page, "does not start: crondor lsp needs pygls");
    },
  ];
}

const browser = await launch();
for (const [name, [given, use]] of Object.entries(tries)) {
  const fault = await withEditor(browser, { files, ...given }, use).then(() => "", String);
  console.log(`${fault ? "FAULT" : "ok   "} ${name} ${fault}`);
  process.exitCode ||= fault ? 1 : 0;
}
await browser.close();
