// Starts `crondor lsp`, and shows what the commands of crondor say of a text in a panel beside it.
import { execFile } from "node:child_process";
import { homedir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { CloseAction, ErrorAction, LanguageClient, type LanguageClientOptions, RevealOutputChannelOn } from "vscode-languageclient/node";
import { find } from "./find";
import { recognise } from "./recognise";

const LANGUAGES = ["htcondor-submit", "htcondor-config", "htcondor-transform", "classad", "crontab", "htcondor-dag"];
const MOST = 4 * 1024 * 1024; // bytes of an answer
const LONGEST = 30_000; // milliseconds that a command may take
const RESTARTS = 3; // of a server that ends by itself, in a row

let client: LanguageClient | undefined;
let panel: vscode.WebviewPanel | undefined;
let log: vscode.OutputChannel;
let readme: vscode.Uri;
let settingsFiles: vscode.FileSystemWatcher;
let wanted = false; // a text of ours was opened
let turn: Promise<void> = Promise.resolve(); // starts and stops, one after the other

/** What the Python extension offers, as far as it is used here. */
interface PythonExtension {
  environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}
let python: PythonExtension["environments"];

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  log = vscode.window.createOutputChannel("crondor");
  const isPackaged = context.extensionMode === vscode.ExtensionMode.Production; // by vsce, which renames this file
  readme = vscode.Uri.joinPath(context.extensionUri, isPackaged ? "readme.md" : "README.md");
  settingsFiles = vscode.workspace.createFileSystemWatcher("**/{crondor.toml,pyproject.toml}");
  context.subscriptions.push(
    log,
    settingsFiles,
    vscode.commands.registerCommand("crondor.restart", restart),
    vscode.commands.registerCommand("crondor.nextRuns", () => answer("Next runs", ["next", "--spec"])),
    vscode.commands.registerCommand("crondor.explainSchedule", () => answer("The schedule", ["explain", "--spec"])),
    vscode.commands.registerCommand("crondor.previewRoute", previewRoute),
    vscode.workspace.onDidOpenTextDocument(opened),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("crondor.command") && restart()),
  );
  vscode.workspace.textDocuments.forEach(opened);
}

export async function deactivate(): Promise<void> {
  await stop();
}

/** Give a text the language that it has, and start the server with the first text of ours. */
function opened(document: vscode.TextDocument): void {
  if (LANGUAGES.includes(document.languageId)) {
    if (!wanted) {
      wanted = true;
      void restart();
    }
    return;
  }
  const language = recognise(document.fileName, document.languageId, document.getText());
  if (language) {
    void vscode.languages.setTextDocumentLanguage(document, language);
  }
}

/** The program and the arguments before a command's name; undefined if there is none, which is said. */
async function program(): Promise<[string, string[]] | undefined> {
  const [command, ...given] = vscode.workspace.getConfiguration("crondor").get<string[]>("command", []);
  if (command) {
    const before = given.slice(0, Math.max(0, given.indexOf("lsp"))); // of `python -m crondor lsp`, for one
    return [command, before];
  }
  // A folder that is not trusted names no program: its .venv may hold anything.
  const isTrusted = vscode.workspace.isTrusted;
  const found = find({
    env: process.env,
    home: homedir(),
    isWindows: process.platform === "win32",
    python: isTrusted ? await activePython() : undefined,
    folders: isTrusted ? (vscode.workspace.workspaceFolders ?? []).map((each) => each.uri.fsPath) : [],
  });
  if (found) {
    log.appendLine(`crondor: ${found.program}, in ${found.where}`);
    return [found.program, []];
  }
  const elsewhere = isTrusted ? "" : " This folder is not trusted, so its own environment was not searched.";
  complain(`The program crondor is not found: not in a Python environment here, on PATH, or among the programs of pipx and uv.${elsewhere}`);
  return undefined;
}

async function activePython(): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonExtension>("ms-python.python");
  if (!extension) {
    return undefined;
  }
  try {
    const offered = await extension.activate();
    if (!python) {
      python = offered.environments;
      python?.onDidChangeActiveEnvironmentPath(restart);
    }
    return python?.getActiveEnvironmentPath(vscode.workspace.workspaceFolders?.[0]?.uri).path;
  } catch (error) {
    log.appendLine(`crondor: the Python extension does not answer: ${error}`);
    return undefined;
  }
}

/** Say what is wrong, with what can be done about it. */
function complain(message: string): void {
  log.appendLine(message);
  const choices = { "How to install": install, "Open settings": settings, "Try again": restart };
  void vscode.window.showErrorMessage(message, ...Object.keys(choices)).then((chosen) => {
    void choices[chosen as keyof typeof choices]?.();
  });
}

async function install(): Promise<void> {
  await vscode.commands.executeCommand("markdown.showPreview", readme);
}

async function settings(): Promise<void> {
  await vscode.commands.executeCommand("workbench.action.openSettings", "crondor.command");
}

function restart(): Promise<void> {
  turn = turn.then(stop).then(start);
  return turn;
}

async function stop(): Promise<void> {
  const old = client;
  client = undefined;
  try {
    await old?.stop();
  } catch {
    // It never ran, or has ended by itself.
  }
}

async function start(): Promise<void> {
  const known = wanted ? await program() : undefined;
  if (!known) {
    return;
  }
  const [command, before] = known;
  const args = [...before, "lsp"];
  const fault = await faultOf(command, args);
  if (fault) {
    complain(`${command} does not start: ${fault}`);
    return;
  }
  let ends = 0;
  let fail: (reason: Error) => void = () => undefined;
  const ended = new Promise<never>((_, reject) => (fail = reject));
  const options: LanguageClientOptions = {
    documentSelector: LANGUAGES.map((language) => ({ language })),
    outputChannel: log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    synchronize: { fileEvents: settingsFiles },
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => {
        ends += 1;
        if (ends <= RESTARTS) {
          return { action: CloseAction.Restart, handled: true };
        }
        fail(new Error("it ended")); // while it starts: the client never settles its promise then
        complain(`${command} has ended ${ends} times by itself. The output crondor may say why.`);
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    },
  };
  client = new LanguageClient("crondor", "crondor", { command, args }, options);
  ended.catch(() => undefined);
  try {
    await Promise.race([client.start(), ended]);
  } catch (error) {
    log.appendLine(`crondor: ${error}`);
  }
}

/** Why the server cannot run, empty if it can: with nobody to speak to it ends by itself, with status 0 or 1. */
function faultOf(command: string, args: string[]): Promise<string> {
  return new Promise((resolve) => {
    const child = execFile(command, args, { timeout: LONGEST }, (error, _, stderr) => {
      const isFine = !error || (error.code as unknown) === 1;
      resolve(isFine ? "" : stderr.trim().split("\n").pop()?.replace(/^Error: /, "") || error.message);
    });
    child.stdin?.end();
  });
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
  const known = await program();
  if (!known) {
    return;
  }
  const file = document.uri.fsPath;
  const name = path.basename(file);
  const [command, before] = known;
  const args = [...before, ...words, name.startsWith("-") ? `./${name}` : name];
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
