// Files whose name does not say that they are HTCondor's: *.conf, *.config and *.rules belong to many programs.
const MOST = 100_000; // characters looked at

const CONFIG =
  /^[ \t]*(?:JOB_ROUTER_|JOB_TRANSFORM_|SUBMIT_REQUIREMENT|DAEMON_LIST\b|CONDOR_HOST\b|[A-Z]*SCHEDD_|STARTD_|NEGOTIATOR_|use[ \t]+(?:ROLE|FEATURE|POLICY|SECURITY)[ \t]*:)/im;
const RULES = /^[ \t]*(?:EVALSET|EVALMACRO|COPY|SET|DEFAULT|DELETE|RENAME|TRANSFORM|REQUIREMENTS)[ \t]+[^\s=]/m;
const ANY = new Set(["plaintext", "properties", "ini", "xml"]); // what VS Code makes of these names by itself

/** The language of a text, if it is one of HTCondor's whose name belongs to many. */
export function recognise(name: string, language: string, text: string): string | undefined {
  const dot = name.slice(name.lastIndexOf(".")).toLowerCase();
  const start = text.slice(0, MOST);
  if (!ANY.has(language) || /^\s*</.test(start)) {
    return undefined;
  }
  if (dot === ".rules" && RULES.test(start)) {
    return "htcondor-transform";
  }
  return (dot === ".conf" || dot === ".config") && CONFIG.test(start) ? "htcondor-config" : undefined;
}
