// Where the program crondor may be, without asking VS Code, so that tests can.
import { accessSync, constants, statSync } from "node:fs";
import * as path from "node:path";

export interface Machine {
  env: NodeJS.ProcessEnv;
  home: string;
  isWindows: boolean;
  python?: string | undefined; // of the Python extension: an environment's folder or its interpreter
  folders: string[]; // of a trusted workspace
}

export interface Found {
  program: string;
  where: string;
}

/** The folders that may hold the program, and what each is, the first one preferred. */
export function places(machine: Machine): [folder: string, where: string][] {
  const { env, home, python } = machine;
  const bin = machine.isWindows ? "Scripts" : "bin";
  const found: [string, string][] = [];
  if (python) {
    const isProgram = /^python[\d.]*(\.exe)?$/.test(path.basename(python));
    found.push([isProgram ? path.dirname(python) : path.join(python, bin), "the environment of the Python extension"]);
  }
  for (const folder of machine.folders) {
    for (const name of [".venv", "venv"]) {
      found.push([path.join(folder, name, bin), "the workspace's environment"]);
    }
  }
  for (const folder of (env["PATH"] ?? env["Path"] ?? "").split(path.delimiter)) {
    found.push([folder, "PATH"]);
  }
  for (const folder of [env["UV_TOOL_BIN_DIR"], env["PIPX_BIN_DIR"], env["XDG_BIN_HOME"], path.join(home, ".local", "bin")]) {
    found.push([folder ?? "", "programs of pipx, uv and pip --user"]);
  }
  const data = env["XDG_DATA_HOME"] ?? path.join(home, ".local", "share");
  const tools = machine.isWindows ? path.join(env["APPDATA"] ?? "", "uv", "tools") : path.join(data, "uv", "tools");
  found.push([path.join(env["UV_TOOL_DIR"] ?? tools, "crondor", bin), "uv's environment"]);
  for (const folder of [env["PIPX_HOME"], path.join(data, "pipx"), path.join(home, ".local", "pipx"), path.join(home, "pipx")]) {
    found.push([folder ? path.join(folder, "venvs", "crondor", bin) : "", "pipx's environment"]);
  }
  return found.filter(([folder]) => path.isAbsolute(folder)); // PATH may have "." and ""
}

export function find(machine: Machine): Found | undefined {
  const name = machine.isWindows ? "crondor.exe" : "crondor";
  for (const [folder, where] of places(machine)) {
    const program = path.join(folder, name);
    if (isProgram(program)) {
      return { program, where };
    }
  }
  return undefined;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
