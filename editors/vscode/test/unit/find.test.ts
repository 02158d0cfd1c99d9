import assert from "node:assert";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { find, type Machine } from "../../src/find";
import { recognise } from "../../src/recognise";

function inFolder(run: (folder: string, put: (name: string, mode?: number) => string) => void): void {
  const folder = mkdtempSync(path.join(tmpdir(), "crondor-"));
  const put = (name: string, mode = 0o755) => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, "#!/bin/sh\n");
    chmodSync(file, mode);
    return file;
  };
  try {
    run(folder, put);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("the program is found in each place, the nearest first", () =>
  inFolder((folder, put) => {
    const machine: Machine = {
      env: { PATH: `.:${path.join(folder, "path")}` },
      home: path.join(folder, "home"),
      isWindows: false,
      python: path.join(folder, "conda/bin/python3.12"),
      folders: [path.join(folder, "one"), path.join(folder, "two")],
    };
    assert.equal(find(machine), undefined);
    const places = [
      "home/.local/pipx/venvs/crondor/bin/crondor",
      "home/.local/share/uv/tools/crondor/bin/crondor",
      "home/.local/bin/crondor",
      "path/crondor",
      "two/.venv/bin/crondor",
      "one/venv/bin/crondor",
      "conda/bin/crondor",
    ];
    for (const place of places) {
      const file = put(place);
      assert.equal(find(machine)?.program, file);
    }
    assert.equal(find({ ...machine, python: undefined, folders: [] })?.program, path.join(folder, "path/crondor"));
    assert.equal(find({ ...machine, python: path.join(folder, "conda") })?.program, path.join(folder, "conda/bin/crondor"));
  }));

test("a folder and a file that cannot be run are not the program", () =>
  inFolder((folder, put) => {
    put("home/.local/bin/crondor/x");
    put("path/crondor", 0o644);
    const env = { PATH: path.join(folder, "path"), XDG_DATA_HOME: path.join(folder, "data") };
    assert.equal(find({ env, home: path.join(folder, "home"), isWindows: false, folders: [] }), undefined);
  }));

test("on Windows it is crondor.exe in Scripts", () =>
  inFolder((folder, put) => {
    const file = put(".venv/Scripts/crondor.exe");
    assert.equal(find({ env: {}, home: folder, isWindows: true, folders: [folder] })?.program, file);
  }));

test("configurations and rules of HTCondor are known by what they say", () => {
  const route = 'JOB_ROUTER_ROUTE_Site @=jrt\n  UNIVERSE VANILLA\n@jrt\n';
  const rules = "# first\nREQUIREMENTS JobUniverse == 5\nSET Memory 4\n";
  assert.equal(recognise("/etc/50-routes.conf", "properties", route), "htcondor-config");
  assert.equal(recognise("/a/b.CONFIG", "xml", "# c\nuse ROLE : Submit\n"), "htcondor-config");
  assert.equal(recognise("/a/site.rules", "plaintext", rules), "htcondor-transform");
  for (const [name, language, text] of [
    ["/etc/nginx/nginx.conf", "properties", "server {\n  listen 80;\n}\n"],
    ["/a/web.config", "xml", "<configuration>\n  JOB_ROUTER_X = 1\n</configuration>"],
    ["/etc/udev/70-usb.rules", "plaintext", 'SUBSYSTEM=="usb", MODE="0660"\n'],
    ["/a/routes.conf", "nginx", route],
    ["/a/notes.txt", "plaintext", rules],
  ] as const) {
    assert.equal(recognise(name, language, text), undefined, name);
  }
});
