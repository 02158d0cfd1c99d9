// The page: what is typed goes to the engine, and its answers are shown. Every text is set as text, none as HTML.
const VERSION = new URL(import.meta.url).search; // the build's, also for the files that this one asks for: a cache may have others
const { EXAMPLES } = await import(`./examples.js${VERSION}`).catch(() => ({ EXAMPLES: {} }));

const $ = (id) => document.getElementById(id);
const TABS = ["schedule", "submit", "route"];
const INPUTS = { schedule: ["schedule-text", "zone", "other", "now", "window", "prep"], submit: ["submit-text", "zone", "now"], route: ["route-config", "route-jobs", "zone", "now"] };
const FIELDS = ["cron_minute", "cron_hour", "cron_day_of_month", "cron_month", "cron_day_of_week"];
const LONGEST = 30000; // milliseconds that an answer may take, from when the engine has all that it needs for it
const MOST = 300_000; // characters of an address
const SHOWN = 20; // jobs, and copies of jobs
const YEARS = [1975, 2198]; // those of the engine
const ZONES = [...new Set([...Intl.supportedValuesOf("timeZone"), "UTC"])];
const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
let tab = "schedule";
let year = 0;

function el(name, properties = {}, ...children) {
  const { class: kind, ...rest } = properties;
  const made = Object.assign(document.createElement(name), rest);
  if (kind) made.className = kind;
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// The engine

let worker;
let isReady = false;
let number = 0;
const waiting = new Map();

function start() {
  isReady = false;
  $("state").textContent = "Loading ...";
  worker = new Worker(`worker.js${VERSION}`, { type: "module" });
  worker.onmessage = ({ data }) => {
    if (data.total) progress(data);
    else if (data.ready) { isReady = true; $("state").textContent = "Ready"; document.body.dataset.ready = "yes"; }
    else if (data.failed) broken(data.failed);
    else if (data.waits) { waiting.get(data.waits)?.wait(); $(`${tab}-answer`).replaceChildren(loading); }
    else if (data.begun) waiting.get(data.begun)?.limit();
    else { waiting.get(data.id)?.done(data.answer); waiting.delete(data.id); }
  };
  worker.onerror = (event) => broken(location.protocol === "file:" ? "open this page from a web server, as with python3 -m http.server" : event.message || "a part of it did not arrive");
}

function end() {
  worker?.terminate();
  worker = undefined;
  isReady = false;
  for (const each of waiting.values()) each.wait();
  const left = [...waiting.values()];
  waiting.clear();
  return left;
}

// Nothing can be asked until it is started again, which whatever is typed does.
function broken(why) {
  end();
  latest += 1; // no answer comes to what was asked
  const box = $(`${tab}-answer`);
  box.classList.remove("busy");
  box.replaceChildren(el("p", { textContent: `crondor could not be loaded: ${why}` }), button("Try again", "", show));
  $("state").textContent = "Not loaded";
}

// What is shown in the place of an answer until there can be one.
const bar = el("progress", { max: 1, value: 0, ariaLabel: "Loading crondor" });
const loading = el("div", { class: "loading" }, bar, el("p", { class: "quiet", textContent: "Loading crondor ..." }));

function progress({ loaded, total, later }) {
  const mega = (size) => (size / 1e6).toFixed(1);
  bar.value = Math.min(1, loaded / total);
  loading.lastChild.textContent = later ? `Loading crondor: ${mega(loaded)} of ${mega(total)} MB. It runs in this page; ${mega(later)} MB more follow the first answer.` : `Loading the rest of crondor: ${mega(loaded)} of ${mega(total)} MB.`;
  if (later) $("state").textContent = `${mega(loaded)} of ${mega(total)} MB`;
}

function ask(question) {
  if (!worker) start();
  return new Promise((resolve) => {
    const id = ++number;
    let timer;
    const wait = () => clearTimeout(timer);
    const done = (answer) => { wait(); resolve(answer); };
    const limit = () => { timer = setTimeout(() => { for (const each of end()) each.done({ refused: "This took too long and was stopped." }); }, LONGEST); };
    waiting.set(id, { done, limit, wait });
    worker.postMessage({ id, question });
  });
}

// Times

function zoneOf(id) {
  const typed = $(id).value.trim();
  const name = ZONES.find((each) => each.toLowerCase() === typed.toLowerCase()) ?? typed;
  if (/^[+-]/.test(name)) return null; // an offset is no zone of the engine
  try { new Intl.DateTimeFormat("en", { timeZone: name }); return name; } catch { return null; }
}

function moment(time, zone) {
  const parts = Object.fromEntries(new Intl.DateTimeFormat("en-GB", { timeZone: zone, weekday: "short", year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZoneName: "longOffset" }).formatToParts(time * 1000).map((part) => [part.type, part.value]));
  const offset = parts.timeZoneName.replace("GMT", "").replace(":", "") || "+0000";
  const seconds = parts.second === "00" ? "" : `:${parts.second}`;
  return `${parts.weekday} ${parts.year}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute}${seconds} ${offset}`;
}

function now() {
  const wall = $("now").value;
  if (!wall) return Math.floor(Date.now() / 1000);
  const zone = zoneOf("zone") ?? "UTC";
  const asUtc = Date.parse(`${wall}Z`) / 1000;
  const offset = (time) => { // what the zone's clock is ahead, seconds
    const sign = moment(time, zone).slice(-5);
    return (sign[0] === "-" ? -1 : 1) * (Number(sign.slice(1, 3)) * 3600 + Number(sign.slice(3)) * 60);
  };
  return asUtc - offset(asUtc - offset(asUtc));
}

// Pieces of answers

function copy(text, label) {
  const button = el("button", { textContent: label });
  button.addEventListener("click", () => put(text, button));
  return button;
}

async function put(text, button) {
  const label = button.dataset.label ??= button.textContent;
  try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch { button.textContent = "Select it, and copy it by hand"; }
  setTimeout(() => { button.textContent = label; }, 1500);
}

function findings(list, { go, mend } = {}) {
  if (!list?.length) return null;
  const items = list.map((each, index) => el("li", { class: each.severity },
    el("p", {}, el("b", { textContent: each.severity }), " ", each.place ? `${each.place.line}:${each.place.column} ` : "", each.message, " ", rule(each.code)),
    each.help && el("p", { class: "quiet", textContent: each.help }),
    go && each.place && button("Show", `Go to line ${each.place.line}`, () => go(each.place)),
    mend && each.fix && button(`Fix: ${each.fix.title}`, each.fix.safe ? "" : "This changes the meaning", () => mend(index)),
  ));
  return el("ul", { class: "findings" }, ...items);
}

function button(label, title, act) {
  const made = el("button", { textContent: label, title });
  made.addEventListener("click", act);
  return made;
}

function rule(code) {
  return /^CRN\d/.test(code) ? el("a", { href: `../rules/${code}/index.html`, textContent: code }) : el("code", { textContent: code });
}

function part(title, ...children) {
  return el("div", {}, el("h2", { textContent: title }), ...children);
}

function table(heads, rows) {
  return el("div", { class: "scroll", tabIndex: 0, role: "region", ariaLabel: "Runs" }, el("table", {},
    el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { textContent: head, scope: "col" })))),
    el("tbody", {}, ...rows.map(({ cells, differs, time }) => el("tr", { class: differs ? "differs" : "", id: time ? `run-${time}` : "" }, ...cells.map((cell) => el("td", { textContent: cell })))))));
}

function heat({ year: shown, first_weekday: first, days }) {
  const most = Math.max(...days);
  const total = days.reduce((sum, count) => sum + count, 0);
  const level = (count) => (count ? Math.max(1, Math.ceil((4 * count) / most)) : 0);
  const said = `${total.toLocaleString("en")} runs in ${shown}, on ${days.filter(Boolean).length} days`;
  const picture = svg("svg", { viewBox: "0 0 710 112", width: 710, height: 112, role: "img", "aria-label": said });
  let month = -1;
  days.forEach((count, day) => {
    const date = new Date(Date.UTC(shown, 0, day + 1));
    const x = 26 + 12.7 * Math.floor((day + first) / 7);
    if (date.getUTCMonth() !== month) {
      month = date.getUTCMonth();
      picture.append(svg("text", { x: x + (date.getUTCDate() === 1 && (day + first) % 7 ? 12 : 0), y: 11 }, date.toLocaleString("en", { month: "short", timeZone: "UTC" })));
    }
    const box = svg("rect", { class: `l${level(count)}`, x, y: 18 + 13 * ((day + first) % 7), width: 11, height: 11, rx: 2 });
    box.append(svg("title", {}, `${date.toISOString().slice(0, 10)}: ${count} ${count === 1 ? "run" : "runs"}`));
    picture.append(box);
  });
  ["Mon", "Wed", "Fri"].forEach((name, row) => picture.append(svg("text", { x: 0, y: 28 + 26 * row }, name)));
  const step = (by, label) => Object.assign(button(label, "", () => { year = shown + by; show(); }), { disabled: shown + by < YEARS[0] || shown + by > YEARS[1] });
  return el("div", {}, el("div", { class: "title" }, el("h2", { textContent: String(shown) }), step(-1, "Earlier"), step(1, "Later"), el("span", { class: "quiet", textContent: said })),
    el("div", { class: "scroll", tabIndex: 0, role: "region", ariaLabel: "The year" }, picture));
}

function diffReasons(list, isMended = false) {
  return list.length ? part("Why the real schedd differs", isMended && el("p", { class: "quiet", textContent: "The submit lines below prevent it." }), ...list.map((each) => el("p", {}, each.reason, !isMended && each.write && el("pre", { class: "out", tabIndex: 0, textContent: each.is_clause ? `requirements = ${each.write}` : each.write })))) : null;
}

const isRetry = (run) => Boolean(run && !run.manual && run.htcondor?.retry);

// Retries go on for hours, all alike: of those that follow each other the first is shown.
const withoutRepeats = (runs) => runs.filter((run, at) => !isRetry(run) || !isRetry(runs[at - 1]));

function realRun(run, after, zone) {
  const { manual, htcondor: real, differs } = run;
  if (!real) return differs ? "no run" : "not reached";
  if (real.time === manual?.time) return "the same";
  const repeated = isRetry(run) && isRetry(after) ? `, repeated every ${length(after.htcondor.time - real.time)}` : "";
  return `${moment(real.time, zone)}${real.retry ? ` (retry${repeated})` : ""}`;
}

function runRows(job, zone, other) {
  const both = job.runs.some((run) => run.differs);
  const isAllowed = job.runs.some((run) => run.manual);
  const rows = withoutRepeats(job.runs).map((run) => {
    const { manual } = run;
    const timed = manual ?? (isAllowed ? null : run.htcondor); // where the manual allows none, the times of the real schedd
    const cells = [manual ? moment(manual.time, zone) : "no run"];
    if (both) cells.push(realRun(run, job.runs[job.runs.indexOf(run) + 1], zone));
    if (other) cells.push(timed ? moment(timed.time, other) : "");
    cells.push(...["match_opens", "last_start"].map((name) => (timed ? moment(timed[name], zone).slice(15, 20) : "")));
    return { cells, differs: run.differs, time: manual?.time };
  });
  return table([zone, ...(both ? ["real schedd"] : []), ...(other ? [other] : []), "match opens", "last start"], rows);
}

// Tabs

async function showSchedule(zone, other) {
  const text = $("schedule-text").value;
  const found = await ask({ kind: "schedule", text, zone, now: now(), year, window: $("window").value, prep: $("prep").value });
  const pieces = [];
  const job = found.next ?? found.schedd;
  const words = found.words ?? found.explain?.schedule?.words ?? job?.schedule?.words;
  if (words) pieces.push(el("p", { class: "sentence", textContent: words }));
  if (found.refused) pieces.push(el("p", { class: "quiet", textContent: found.refused }));
  if (found.rewritten) pieces.push(el("p", {}, "In HTCondor's fields: ", el("code", { textContent: found.rewritten }), found.findings.length ? ". The schedd does not take it as it is written here:" : ""));
  pieces.push(findings(found.findings));
  if (job?.schedd_fault) pieces.push(part("What the real schedd does", el("p", { textContent: job.schedd_fault.message })));
  const schedule = found.explain?.schedule;
  if (schedule) pieces.push(el("div", {}, el("ul", { class: "fields", ariaLabel: "The fields" }, ...schedule.fields.map((field) => el("li", {}, el("code", { textContent: field.written ?? "*" }), field.field.replaceAll("_", " "), el("br"), el("span", { textContent: field.unrestricted ? "any" : short(field.values) })))), el("p", { class: "quiet", textContent: schedule.day_rule?.words ?? "" })));
  if (job?.runs?.length) pieces.push(part("Next runs", runRows(job, zone, other)), diffReasons(found.differences ?? job.differences, !found.refused));
  if (found.times) pieces.push(part("Next runs", table([zone, ...(other ? [other] : [])], found.times.map((time) => ({ time, cells: [moment(time, zone), ...(other ? [moment(time, other)] : [])] })))));
  if (found.times && !found.times.length) pieces.push(el("p", { textContent: "It has no more runs." }));
  if (found.year) pieces.push(heat(found.year));
  const changes = found.explain?.clock_changes ?? [];
  if (changes.length) pieces.push(part("Clock changes ahead", el("ul", {}, ...changes.map((each) => el("li", { textContent: clockChange(each) })))));
  if (found.kind && !found.refused && found.year && found.times?.length !== 0) pieces.push(compiledLines(found.line ?? text, zone, found));
  return pieces;
}

function submitLines(lines, title, reason) {
  const open = () => { $("submit-text").value = `executable = job.sh\nlog = job.log\n${lines}queue\n`; select("submit"); };
  return el("div", {}, el("div", { class: "title" }, el("h2", { textContent: title }), copy(lines, "Copy the submit lines"), button("Open as a submit file", "", open)), reason, el("pre", { class: "out submit-lines", tabIndex: 0, textContent: lines }));
}

// The lines of crondor compile, which are proven to mean the same. That takes longer.
function compiledLines(text, zone, { window = $("window").value, prep = $("prep").value }) {
  const box = el("div", {}, el("p", { class: "quiet", textContent: "Looking for the submit lines that mean this ..." }));
  ask({ kind: "compile", text, zone, now: now(), window, prep }).then((found) => {
    const why = found.errors ?? found.refused;
    const nearest = found.reason && el("pre", { class: "out", tabIndex: 0, textContent: found.reason });
    box.replaceChildren(found.submit ? submitLines(found.submit, nearest ? "In a submit file: the nearest schedule that HTCondor can express" : "In a submit file: proven to mean the same", nearest) : part("In a submit file", el("pre", { class: "out", tabIndex: 0, textContent: why ?? "" })));
  });
  return box;
}

function short(values) {
  return values.length > 12 ? `${values.slice(0, 10).join(", ")} ... ${values.at(-1)} (${values.length})` : values.join(", ");
}

function clockChange({ local, seconds, low, high, compatible, schedd }) {
  const hours = `${low.slice(11, 16)} to ${high.slice(11, 16)}`;
  const runs = (list) => list.map((run) => run.local.slice(11, 16)).slice(0, 4).join(", ") || "none";
  const what = seconds > 0 ? `${hours} is skipped` : `${hours} comes twice`;
  return `${local.slice(0, 10)}: ${what}; runs: ${runs(compatible)}${schedd ? `, real schedd: ${runs(schedd)}` : ""}`;
}

async function showSubmit(zone) {
  const text = $("submit-text").value;
  const time = now();
  const found = await ask({ kind: "submit", text, zone, now: time });
  const area = $("submit-text");
  if (area.value === text) underline(area, found.findings ?? []);
  const go = showIn(area);
  const mend = async (index) => {
    const mended = await ask({ kind: "fix", text, zone, now: time, index });
    if (mended.text !== undefined && area.value === text) { area.value = mended.text; await show(); area.focus(); }
  };
  const counted = found.findings?.length ? findings(found.findings, { go, mend }) : el("p", { textContent: found.refused ?? "crondor finds nothing wrong." });
  const jobs = (found.jobs ?? []).filter((job) => job.runs.length);
  return [part("Findings", counted), found.findings && found.refused && el("p", { textContent: found.refused }),
    found.errors && el("pre", { class: "out", tabIndex: 0, textContent: found.errors }),
    ...jobs.map((job) => part(job.schedule ? job.schedule.words : "Runs", timeline(job, zone), diffReasons(job.differences)))];
}

const showIn = (area) => ({ start: from, end }) => { area.focus(); area.setSelectionRange(from, Math.max(end, from + 1)); };

function underline(area, list) {
  const text = area.value;
  const pre = area.previousElementSibling;
  pre.replaceChildren();
  let at = 0;
  for (const { place, severity } of list.filter((each) => each.place).sort((a, b) => a.place.start - b.place.start)) {
    if (place.start < at) continue;
    const marked = text.slice(place.start, Math.max(place.end, place.start + 1)).replace(/^\n$/, "");
    pre.append(text.slice(at, place.start), el("mark", { class: severity, textContent: marked || " " }));
    at = place.start + marked.length;
  }
  pre.append(`${text.slice(at)}\n`);
}

function timeline(job, zone) {
  const runs = withoutRepeats(job.runs).map((run) => ({ ...(run.manual ?? run.htcondor ?? run.unix), differs: run.differs, real: !run.manual }));
  const before = Math.max(60, ...runs.map((run) => run.time - run.match_opens));
  const after = Math.max(60, ...runs.map((run) => run.last_start - run.time));
  const left = 190;
  const wide = 330;
  const x = (seconds) => left + ((seconds + before) / (before + after)) * wide;
  const high = 22 * runs.length + 26;
  const picture = svg("svg", { viewBox: `0 0 ${left + wide + 20} ${high}`, width: left + wide + 20, height: high, role: "img", "aria-label": `${runs.length} runs with the time in which each may be matched and may start` });
  runs.forEach((run, row) => {
    const y = 22 * row + 4;
    const said = `${moment(run.time, zone)}: match opens ${moment(run.match_opens, zone).slice(15)}, last start ${moment(run.last_start, zone).slice(15)}`;
    picture.append(svg("g", {}, svg("title", {}, said), svg("text", { x: 0, y: y + 11 }, `${moment(run.time, zone)}${run.real ? " !" : ""}`),
      svg("line", { class: "axis", x1: left, x2: left + wide, y1: y + 7, y2: y + 7 }),
      svg("rect", { class: "match", x: x(run.match_opens - run.time), y: y + 2, width: x(0) - x(run.match_opens - run.time), height: 10 }),
      svg("rect", { class: "window", x: x(0), y: y + 2, width: x(run.last_start - run.time) - x(0), height: 10 }),
      svg("line", { class: "tick", x1: x(0), x2: x(0), y1: y - 1, y2: y + 15 })));
  });
  picture.append(svg("text", { x: left, y: high - 6 }, `-${length(before)}`), svg("text", { x: x(0), y: high - 6, "text-anchor": "middle" }, "start"), svg("text", { x: left + wide, y: high - 6, "text-anchor": "end" }, `+${length(after)}`));
  const key = (kind, word) => [el("i", { style: `background: var(--${kind})` }), word];
  return el("div", {}, el("p", { class: "quiet legend" }, ...key("match", "may be matched"), ...key("window", "may still start"), runs.some((run) => run.real) ? "\u2003! only the real schedd runs it" : ""), el("div", { class: "scroll", tabIndex: 0, role: "region", ariaLabel: "Time line" }, picture));
}

function length(seconds) {
  return seconds % 3600 === 0 ? `${seconds / 3600} h` : seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}

async function showRoute(zone) {
  const [area, jobsArea] = [$("route-config"), $("route-jobs")];
  const [config, jobsText] = [area.value, jobsArea.value];
  const found = await ask({ kind: "route", config, jobs: jobsText, zone, now: now() });
  if (area.value === config) underline(area, found.findings ?? []);
  if (jobsArea.value === jobsText) underline(jobsArea, found.of_jobs ?? []);
  if (found.refused) return [el("p", { textContent: found.refused }), findings(found.findings)];
  const all = found.jobs ?? [];
  const jobs = all.slice(0, SHOWN).map((job) => el("li", {}, el("b", { textContent: `Job ${job.job} ${job.route ? `goes on ${job.route}` : "is not routed"}` }),
    ...job.missed.map((each) => el("p", { class: "quiet", textContent: each.reason })),
    el("dl", {}, ...job.routes.flatMap((each) => [el("dt", { textContent: each.route }), el("dd", { class: each.outcome === "matched" ? "matched" : "", textContent: `${each.outcome}${each.reason ? `: ${each.reason}` : ""}` })]))));
  const ofJobs = findings(found.of_jobs, { go: showIn(jobsArea) });
  const copies = (found.copies ?? []).slice(0, SHOWN);
  return [found.errors && el("p", { class: "said", textContent: found.errors }),
    part("Which route, and why not the others", jobs.length ? el("ul", { class: "routes" }, ...jobs) : el("p", { textContent: "There are no jobs here." }), all.length > SHOWN && el("p", { class: "quiet", textContent: `The first ${SHOWN} of ${all.length} jobs are shown.` })),
    ofJobs && part("The jobs", ofJobs),
    ...copies.map((each) => part(`What changes in the copy of job ${each.job} for ${each.route}`, changes(each.changes))),
    part("The configuration", findings(found.findings, { go: showIn(area) }) ?? el("p", { textContent: "crondor finds nothing wrong." }))];
}

// What was changed comes first, and what every copy begins with last.
function changes(list) {
  const kind = ({ before, after }) => (before === null ? "add" : after === null ? "del" : "changed");
  const weight = (each) => (kind(each) === "changed" ? 0 : /^(0(\.0)?|false)$/.test(each.after ?? "0") ? 2 : 1);
  const rows = [...list].sort((a, b) => weight(a) - weight(b)).map((each) => el("tr", { class: kind(each) }, el("th", { scope: "row", textContent: each.name }),
    el("td", {}, each.before !== null && el("del", { textContent: each.before })), el("td", {}, each.after !== null && el("ins", { textContent: each.after }))));
  return el("div", { class: "scroll", tabIndex: 0, role: "region", ariaLabel: "Changes" }, el("table", { class: "diff" },
    el("thead", {}, el("tr", {}, ...["attribute", "job", "routed copy"].map((head) => el("th", { textContent: head, scope: "col" })))), el("tbody", {}, ...rows)));
}

// Showing, and the address

let latest = 0;

async function show() {
  const mine = ++latest;
  const zone = zoneOf("zone");
  const other = $("other").value.trim() ? zoneOf("other") : "";
  const box = $(`${tab}-answer`);
  keep();
  if (zone === null || other === null) {
    box.replaceChildren(el("p", { textContent: `There is no zone ${$(zone === null ? "zone" : "other").value}: write an IANA name such as Europe/Berlin.` }));
    return;
  }
  box.classList.add("busy");
  if (!isReady) box.replaceChildren(loading);
  const pieces = await { schedule: showSchedule, submit: showSubmit, route: showRoute }[tab](zone, other === zone ? "" : other);
  if (mine !== latest) return;
  box.replaceChildren(...pieces.filter(Boolean));
  box.classList.remove("busy");
  box.dataset.shown = String(mine);
}

// The address has what differs from the page as it opens, and the zones, which are others elsewhere.
function keep() {
  const values = new URLSearchParams({ tab });
  for (const id of INPUTS[tab]) if (["zone", "other"].includes(id) || $(id).value !== FIRST.get(id)) values.set(id, $(id).value);
  const hash = `#${values}`;
  $("share").disabled = hash.length > MOST;
  try { history.replaceState(null, "", $("share").disabled ? `#tab=${tab}` : hash); } catch { /* a browser may find them too many */ }
}

// An address without a tab is none of this page's, but a link within it.
function restore() {
  const values = new URLSearchParams(location.hash.slice(1));
  const name = values.get("tab");
  if (!TABS.includes(name)) return keep();
  for (const id of INPUTS[name]) $(id).value = values.get(id) ?? FIRST.get(id);
  return select(name, false);
}

function select(name, focus = true) {
  tab = name;
  for (const each of TABS) {
    $(each).hidden = each !== name;
    $(`tab-${each}`).setAttribute("aria-selected", String(each === name));
    $(`tab-${each}`).tabIndex = each === name ? 0 : -1;
  }
  if (focus) $(`tab-${name}`).focus();
  show();
}

for (const [id, text] of Object.entries(EXAMPLES)) $(id).value = text;
$("zone").value = HERE;
$("other").value = HERE === "UTC" ? "Europe/Berlin" : "UTC";
$("zones").append(...ZONES.map((value) => el("option", { value })));
let timer;
document.querySelector("main").addEventListener("input", ({ target }) => {
  if (target.closest(".editor")) underline(target, []);
  year = 0;
  clearTimeout(timer);
  timer = setTimeout(show, 60);
});
for (const each of document.querySelectorAll("[data-example]")) each.addEventListener("click", () => { $("schedule-text").value = each.dataset.example; year = 0; show(); });
for (const each of TABS) $(`tab-${each}`).addEventListener("click", () => select(each));
document.querySelector("[role=tablist]").addEventListener("keydown", ({ key }) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (step) select(TABS.at((TABS.indexOf(tab) + step) % TABS.length));
});
for (const each of document.querySelectorAll(".editor textarea")) each.addEventListener("scroll", ({ target }) => { const pre = target.previousElementSibling; pre.scrollTop = target.scrollTop; pre.scrollLeft = target.scrollLeft; });
$("share").addEventListener("click", ({ currentTarget }) => put(location.href, currentTarget));
addEventListener("hashchange", restore);
const FIRST = new Map([...new Set(Object.values(INPUTS).flat())].map((id) => [id, $(id).value]));
if (location.hash.includes("tab=")) restore();
else select("schedule", false);
