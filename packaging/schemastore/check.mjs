// Checks the schema of crondor.toml on standard input as SchemaStore does: Ajv in strict mode, and each sample.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Ajv from "ajv";
import { parse } from "smol-toml";

const validate = new Ajv({ strict: true }).compile(JSON.parse(readFileSync(0, "utf-8")));
for (const [kind, wanted] of [["positive", true], ["negative", false]]) {
  const folder = join(import.meta.dirname, kind);
  for (const name of readdirSync(folder)) {
    if (validate(parse(readFileSync(join(folder, name), "utf-8"))) !== wanted) {
      console.error(`${kind}/${name} is ${wanted ? "refused" : "accepted"}: ${JSON.stringify(validate.errors)}`);
      process.exitCode = 1;
    }
  }
}
