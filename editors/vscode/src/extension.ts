// Starts `crondor lsp`, and shows what the commands of crondor say of a text in a panel beside it.
import { execFile } from "node:child_process";
import * as path from "node:path";
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";

const LANGUAGES = ["htcondor-submit", "htcondor-config", "htcondor-transform", "classad", "crontab", "htcondor-dag"];
const MOST = 4 * 1024 * 1024; // bytes of an answer
const LONGEST = 30_000; // milliseconds that a command may take

let client: LanguageClient | undefined;
let panel: vscode.WebviewPanel | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("crondor.restart", restart),
    vscode.commands.registerCommand("crondor.nextRuns", () => answer("Next runs", ["next", "--spec"])),
    vscode.commands.registerCommand("crondor.explainSchedule", () => answer("The schedule", ["explain", "--spec"])),
    vscode.commands.registerCommand("crondor.previewRoute", previewRoute),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

function program(): [string, string[]] {
  const [command = "crondor", ...given] = vscode.workspace.getConfiguration("crondor").get<string[]>("command", []);
  return [command, given];
}

async function start(): Promise<void> {
  const [command, given] = program();
  const server: ServerOptions = { command, args: given.length ? given : ["lsp"] };
  const options: LanguageClientOptions = {
    documentSelector: LANGUAGES.map((language) => ({ language })),
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/{crondor.toml,pyproject.toml}") },
  };
  client = new LanguageClient("crondor", "crondor", server, options);
  try {
    await client.start();
  } catch {
    void vscode.window.showErrorMessage(`crondor: cannot start ${command}: install it, or set crondor.command`);
  }
}

async function restart(): Promise<void> {
  await client?.stop();
  await start();
}

async function previewRoute(): Promise<void> {
  const chosen = await vscode.window.showOpenDialog({ title: "The router's configuration", canSelectMany: false });
  if (chosen?.[0]) {
    await answer("The route", ["route", "explain", "--config", chosen[0].fsPath, "--spec"]);
  }
}

/** Ask a command about the file of the active editor, saved first, and show what it says. */
async function answer(title: string, words: string[]): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (!document || document.uri.scheme !== "file" || !(await document.save())) {
    return;
  }
  const file = document.uri.fsPath;
  const [command, given] = program();
  const before = given.slice(0, Math.max(0, given.indexOf("lsp"))); // of `python -m crondor lsp`, for one
  const args = [...before, ...words, file];
  const limits = { cwd: path.dirname(file), maxBuffer: MOST, timeout: LONGEST };
  const text = await new Promise<string>((resolve) => {
    execFile(command, args, limits, (error, stdout, stderr) =>
      resolve(stdout + stderr || (error ? error.message : "")),
    );
  });
  show(title, text);
}

function show(title: string, text: string): void {
  panel ??= vscode.window.createWebviewPanel("crondor", title, {
    viewColumn: vscode.ViewColumn.Beside,
    preserveFocus: true,
  });
  panel.onDidDispose(() => (panel = undefined));
  panel.title = title;
  panel.webview.html = `<!DOCTYPE html><html><head><meta http-equiv="Content-Security-Policy" content="default-src 'none'"></head><body><pre>${escaped(text)}</pre></body></html>`;
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
