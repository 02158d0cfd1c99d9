"""`python -m website.pictures`: draw docs/pictures, two of them from what the commands answer."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime, timezone
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from crondor import JobSchedule
from website.play.engine import command

WIDTH = 420  # of every picture: 15 px of text are 10 on a phone of 320
_STYLE = (Path(__file__).parent / "pictures.css").read_text("utf-8")


class Point(NamedTuple):
    """A place in the picture, in pixels from its upper left corner."""

    x: float
    y: float


def picture(title: str, description: str, height: int, shapes: Iterable[str]) -> str:
    """Return the file; a screen reader says title and description."""
    body = "\n".join(f"  {shape}" for shape in shapes)
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="t d">
  <title id="t">{escape(title)}</title>
  <desc id="d">{escape(description)}</desc>
  <style>
{_STYLE}</style>
  <rect class="ground" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>
{body}
</svg>
"""


def text(at: Point, words: str, kind: str = "", anchor: str = "middle") -> str:
    """Return a line of text: ``anchor`` says which part of it stands at the place."""
    return f'<text x="{at.x:g}" y="{at.y:g}" text-anchor="{anchor}"{_kind(kind)}>{escape(words)}</text>'


def bar(at: Point, width: float, height: float, kind: str, hint: str = "") -> str:
    """Return a filled rectangle, with words to show when it is pointed at."""
    told = f"<title>{escape(hint)}</title>" if hint else ""
    size = f'x="{at.x:g}" y="{at.y:g}" width="{width:g}" height="{height:g}"'
    return f"<rect{_kind(kind)} {size}>{told}</rect>" if told else f"<rect{_kind(kind)} {size}/>"


def box(at: Point, width: float, lines: Iterable[tuple[str, str]]) -> list[str]:
    """Return a box with lines of text, each with its kind; 20 px a line."""
    rows = list(lines)
    height = 20 * len(rows) + 12
    frame = f'<rect class="box" rx="6" x="{at.x:g}" y="{at.y:g}" width="{width:g}" height="{height:g}"/>'
    middle = at.x + width / 2
    return [frame, *(text(Point(middle, at.y + 20 + 20 * row), words, kind) for row, (words, kind) in enumerate(rows))]


def arrow(begin: Point, end: Point) -> list[str]:
    """Return an arrow that goes straight down or to one side."""
    if begin.x == end.x:
        tip = f"M{end.x - 4:g} {end.y - 7:g}h8l-4 7z"
        return [f'<path class="line" d="M{begin.x:g} {begin.y:g}V{end.y - 6:g}"/>', f'<path class="tip" d="{tip}"/>']
    way = 1 if end.x > begin.x else -1
    tip = f"M{end.x - 7 * way:g} {end.y - 4:g}v8l{7 * way} -4z"
    return [f'<path class="line" d="M{begin.x:g} {begin.y:g}H{end.x - 6 * way:g}"/>', f'<path class="tip" d="{tip}"/>']


def _kind(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
NOON = 1_795_176_000  # Fri 2026-11-20 12:00 UTC
HOURLY = {"cron_minute": "0", "cron_prep_time": "600", "cron_window": "900"}
WEEK_OF = ("nightly.sub", "weekdays.sub", "two-days-or.sub", "several-jobs.sub", "macros.sub", "last-friday.sub")
REPORT = """\
executable = /usr/bin/make
arguments = report
cron_minute = 0
cron_prep_time = 60
on_exit_remove = false
queue
"""


def moments() -> str:
    """Draw the moments of one run, as JobSchedule computes them."""
    run = JobSchedule.from_submit(HOURLY, zone="UTC").next(NOON - 1)
    assert run is not None  # noqa: S101 - an hourly job has a next run
    nominal = run.time - int(HOURLY["cron_prep_time"])
    edges = [(run.match_opens, 40), (nominal, 128), (run.time, 240), (run.last_start, 352)]
    shapes = [text(Point(210, 28), "One run of an hourly job", "strong")]
    for (_, left), right, kind in zip(edges, [128, 240, 352, 404], ["early", "wait", "go", "bad"], strict=True):
        shapes.append(bar(Point(left, 92), right - left, 26, kind))
    shapes.append('<path class="line" d="M20 118H404"/>')
    for moment, x in edges:
        shapes.append(f'<path class="line" d="M{x} {58 if moment == nominal else 84}V126"/>')
        shapes.append(text(Point(x, 144), _clock(moment)))
    shapes.append(text(Point(14, 76), "match_opens", "strong", "start"))
    for x, y, name in (
        (128, 52, "nominal_match"),
        (240, 60, "time"),
        (240, 76, "(DeferralTime)"),
        (352, 76, "last_start"),
    ):
        shapes.append(text(Point(x, y), name, "strong"))
    spans = {
        84: ("SCHEDD_", "INTERVAL", f"{nominal - run.match_opens} s"),
        184: ("prep time", f"{run.time - nominal} s"),
        296: ("window", f"{run.last_start - run.time} s"),
    }
    for x, lines in spans.items():
        shapes += [text(Point(x, 172 + 16 * row), words, "small quiet") for row, words in enumerate(lines)]
    meanings = {
        "wait": "matched here: waits on its machine",
        "go": "arrives here: starts at once",
        "bad": "arrives here: held, code 20",
    }
    for y, (kind, words) in zip((226, 250, 274), meanings.items(), strict=True):
        shapes += [bar(Point(24, y), 14, 14, kind), text(Point(46, y + 12), words, anchor="start")]
    return picture(
        "The moments of one run",
        f"An hourly job with a preparation of 600 and a window of 900 seconds at its run of {_clock(run.time)}. It may "
        f"be matched from {_clock(run.match_opens)}, by the manual from {_clock(nominal)}; it starts at "
        f"{_clock(run.time)}, at the latest at {_clock(run.last_start)}; later it is held with code 20.",
        304,
        shapes,
    )


def flow() -> str:
    """Draw where an ad goes: from the submit file to the routed copy."""
    run = JobSchedule.from_submit({"cron_minute": "30", "cron_hour": "2"}, zone="UTC").next(NOON)
    assert run is not None  # noqa: S101 - a nightly job has a next run
    steps = [
        [("submit file", "strong"), ("cron_minute = 30, cron_hour = 2", "code small")],
        [
            ("job ad in the schedd's queue", "strong"),
            ('CronMinute = "30", CronHour = "2"', "code small"),
            (f"DeferralTime = {run.time}", "code small"),
        ],
        [("router: the first route that matches", "strong"), ("REQUIREMENTS, SET, DELETE", "code small")],
        [("routed copy, a job of its own", "strong"), ('RouteName = "Site1"', "code small")],
    ]
    said = [
        ("condor_submit; transforms of the", "access point change the ad"),
        ("idle, nobody's, and taken by", "JOB_ROUTER_SOURCE_JOB_CONSTRAINT"),
        ("the route's transform makes the copy;", "status and times go back to the source"),
    ]
    asks = ("crondor check, next", "crondor preview, simulate", "crondor route explain", "crondor route apply, plan")
    shapes, y = [], 16.0
    for row, lines in enumerate(steps):
        shapes += box(Point(40, y), 340, [*lines, (asks[row], "code small quiet")])
        y += 20 * (len(lines) + 1) + 12
        if row < len(said):
            shapes += arrow(Point(76, y), Point(76, y + 52))
            shapes += [
                text(Point(92, y + 22 + 16 * at), words, "small quiet", "start") for at, words in enumerate(said[row])
            ]
            y += 54
    return picture(
        "The flow of an ad",
        "A submit file becomes a job ad in the schedd's queue, changed by the access point's transforms. The router "
        "takes an idle job that meets its constraint, and the first route that matches makes a copy, a job of its own "
        "whose status goes back to the source. Beside each step the commands that show it: check and next, preview and "
        "simulate, route explain, route apply and plan.",
        int(y) + 16,
        shapes,
    )


def life() -> str:
    """Draw the states in which the router has a job."""
    states = [
        ("unclaimed", "idle, nobody's, and a route matches"),
        ("claimed", 'Managed = "External"; the copy is made'),
        ("submitted", "the copy's status is shown in the source"),
        ("finished", "the copy is done: log says terminated"),
        ("cleanup", "the copy is let go, the source given back"),
        ("retired", "kept in mind until the queues show it"),
    ]
    shapes, tops = [], [16.0 + 78 * row for row in range(len(states))]
    for top, (name, what) in zip(tops, states, strict=True):
        shapes += box(Point(20, top), 310, [(name, "strong code"), (what, "small")])
    for top in tops[:-1]:
        shapes += arrow(Point(175, top + 52), Point(175, top + 78))
    failed = tops[2] + 26
    back, cleanup = tops[0] + 26, tops[4] + 26
    shapes += [
        f'<path class="line" d="M330 {failed:g}H350V{cleanup:g}H336"/>',
        f'<path class="tip" d="M337 {cleanup - 4:g}v8l-7 -4z"/>',
    ]
    shapes += [
        f'<path class="line" d="M330 {cleanup + 10:g}H376V{back:g}H336"/>',
        f'<path class="tip" d="M337 {back - 4:g}v8l-7 -4z"/>',
    ]
    shapes += [_upright(Point(366, (failed + cleanup) / 2), "removed, or source held")]
    shapes += [_upright(Point(394, (back + failed) / 2 + 30), "idle again: routed again")]
    return picture(
        "The life of a routed job",
        "The states unclaimed, claimed, submitted, finished, cleanup and retired, one after the other. From submitted "
        "a job goes to cleanup at once where source or copy is removed, or the source held. A source that is idle "
        "after it is routed again.",
        int(tops[-1]) + 68,
        shapes,
    )


def agenda() -> str:
    """Draw a week of submit files, as `crondor agenda` counts their starts."""
    files = {name: (ROOT / "examples" / name).read_text("utf-8") for name in WEEK_OF}
    week = _ask(
        "agenda",
        *WEEK_OF,
        "--days",
        "7",
        "--from",
        "2026-11-23",
        "--now",
        "2026-11-20T12:00",
        "--tz",
        "Europe/Berlin",
        files=files,
    )
    most = max(max(day["hours"]) for day in week["days"])
    shapes = [text(Point(210, 28), f"{week['starts']} starts of {week['job_count']} jobs, by hour", "strong")]
    shapes += [text(Point(64 + 14 * hour, 52), f"{hour:02}", "small quiet", "start") for hour in range(0, 24, 3)]
    for row, day in enumerate(week["days"]):
        y = 60 + 20 * row
        shapes += [text(Point(8, y + 13), f"{day['weekday']} {day['date'][8:]}", "small", "start")]
        for hour, starts in enumerate(day["hours"]):
            level = -(-4 * starts // most)
            shapes.append(bar(Point(64 + 14 * hour, y), 12, 16, f"l{level}", f"{day['weekday']} {hour:02} h: {starts}"))
    y = 60 + 20 * len(week["days"]) + 18
    shapes.append(text(Point(64, y), "starts in the hour", "small quiet", "start"))
    for starts in range(most + 1):
        x = 190 + 40 * starts
        shapes += [
            bar(Point(x, y - 12), 14, 14, f"l{-(-4 * starts // most)}"),
            text(Point(x + 20, y), str(starts), "small", "start"),
        ]
    busiest = max(((starts, day["weekday"], hour) for day in week["days"] for hour, starts in enumerate(day["hours"])))
    return picture(
        "A week of six submit files",
        f"{week['starts']} starts of {week['job_count']} jobs in seven days from {week['days'][0]['date']}, a row for "
        f"each day and a column for each hour; the busiest hour has {busiest[0]} starts.",
        y + 18,
        shapes,
    )


def simulate() -> str:
    """Draw what `crondor simulate` says of a job, and of the two changes that it names as enough."""
    cases = [
        ("as it is", REPORT),
        ("cron_window = 171", REPORT.replace("on_exit", "cron_window = 171\non_exit")),
        ("cron_prep_time = 231", REPORT.replace("prep_time = 60", "prep_time = 231")),
    ]
    asked = (
        "--no-advice",
        "--now",
        "2026-11-25T12:00",
        "--tz",
        "UTC",
        "--days",
        "7",
        "--schedd-interval",
        "60",
        "--transfer",
        "1m-4m",
    )
    kinds = {
        "on_time": ("go", "on time"),
        "late": ("late", "late"),
        "missed_held": ("bad", "missed, held"),
        "held": ("l0", "on hold"),
    }
    shapes = [text(Point(210, 28), "An hourly job, its files take up to 4 min", "strong")]
    told = []
    for row, (name, source) in enumerate(cases):
        job = _ask("simulate", "report.sub", *asked, files={"report.sub": source})["readings"][0]["jobs"][0]
        counts = {key: job[key] for key in kinds if job[key]}
        assert sum(counts.values()) == job["planned"], job  # noqa: S101 - no outcome without its bar
        y, x = 62 + 54 * row, 16.0
        words = ", ".join(f"{count} {kinds[key][1]}" for key, count in counts.items())
        told.append(f"{name}: {words}")
        shapes += [
            text(Point(16, y - 7), name, "code small", "start"),
            text(Point(404, y - 7), words, "small quiet", "end"),
        ]
        for key, count in counts.items():
            width = 388 * count / job["planned"]
            shapes.append(bar(Point(x, y), width, 20, kinds[key][0], f"{count} {kinds[key][1]}"))
            x += width
    y = 62 + 54 * len(cases)
    for x, (kind, word) in zip((0, 94, 164, 290), kinds.values(), strict=True):
        shapes += [bar(Point(16 + x, y - 12), 14, 14, kind), text(Point(36 + x, y), word, "small", "start")]
    return picture("What becomes of the runs of a week", f"{'. '.join(told)}.", y + 18, shapes)


def _ask(*arguments: str, files: dict[str, str]) -> Any:  # noqa: ANN401 - the command's schema says
    out, err, _ = command(*arguments, "--format", "json", files=files)
    if not out:
        raise RuntimeError(err)
    return json.loads(out)


def _clock(moment: int) -> str:
    return datetime.fromtimestamp(moment, timezone.utc).strftime("%H:%M")


def _upright(at: Point, words: str) -> str:
    return f'<g transform="rotate(-90 {at.x:g} {at.y:g})">{text(at, words, "small quiet")}</g>'


PICTURES = {"moments": moments, "flow": flow, "life": life, "agenda": agenda, "simulate": simulate}


def main() -> None:
    """Write them all."""
    for name, draw in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
