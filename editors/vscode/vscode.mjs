// VS Code as code-server runs it in a browser, with the extension of crondor.vsix: for pictures.mjs and try.mjs.
//
// CODE_SERVER names it, with the Node that it wants: "path/to/node path/to/code-server/out/node/entry.js". It is on npm;
// what it compiles needs the headers of that Node (npm_config_nodedir), krb5, x11 and xkbfile.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SETTINGS = {
  "workbench.colorTheme": "Default Light Modern",
  "workbench.startupEditor": "none",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.tips.enabled": false,
  "chat.disableAIFeatures": true,
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
};

/** Start it on a folder with some files, and hand its page and that folder over. */
export async function withEditor(browser, { files, settings = {}, env = {}, prepare = () => undefined, extensions = [] }, use) {
  const [program, ...first] = (process.env.CODE_SERVER ?? "").split(" ");
  const vsix = join(import.meta.dirname, "crondor.vsix");
  if (!existsSync(program) || !existsSync(vsix)) throw new Error("set CODE_SERVER, and run make vscode");
  const folder = mkdtempSync(join(tmpdir(), "crondor-vscode-"));
  const project = join(folder, "lab-jobs");
  const user = join(folder, "user");
  for (const each of [join(user, "User"), join(folder, "home"), project]) mkdirSync(each, { recursive: true });
  writeFileSync(join(user, "User/settings.json"), JSON.stringify({ ...SETTINGS, ...settings }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
  prepare(project);
  const given = [...first, "--user-data-dir", user, "--extensions-dir", join(folder, "extensions")];
  for (const each of [vsix, ...extensions]) execFileSync(program, [...given, "--install-extension", each], { cwd: folder, stdio: "ignore" });
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const serving = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check"];
  const server = spawn(program, [...given, ...serving], {
    cwd: folder,
    env: { ...process.env, HOME: join(folder, "home"), PATH: "/usr/bin:/bin", TZ: "Europe/Berlin", ...env },
    detached: true,
    stdio: "ignore",
  });
  const page = await browser.newPage({ viewport: { width: 1000, height: 600 }, timezoneId: "Europe/Berlin" });
  const open = (name) => {
    const payload = [["openFile", `vscode-remote://127.0.0.1:${port}${join(project, name)}`]];
    return page.goto(`${base}/?folder=${project}&payload=${encodeURIComponent(JSON.stringify(payload))}`);
  };
  try {
    for (let attempt = 0; attempt < 60 && !(await fetch(base).catch(() => null)); attempt += 1) await page.waitForTimeout(500);
    await use({ page, open, project });
  } finally {
    await page.close();
    process.kill(-server.pid);
    await new Promise((resolve) => server.once("exit", resolve));
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
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
