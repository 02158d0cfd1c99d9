"""Instants and distances as short text, the same on every host and in every locale."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone, tzinfo

from crondor.calendar import short_weekday

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def relative(seconds: int) -> str:
    """Return a distance from now in seconds (negative: the past) as ``in 3 h 12 min``, ``45 s ago`` or ``now``.

    The largest unit and the one below it are shown; what is smaller is cut off, never rounded up.
    """
    if seconds == 0:
        return "now"
    rest = abs(seconds)
    first = next(i for i, (_, size) in enumerate(_UNITS) if rest >= size)
    shown = []
    for name, size in _UNITS[first : first + 2]:
        count, rest = divmod(rest, size)
        if count:
            shown.append(f"{count} {name}")
    text = " ".join(shown)
    return f"in {text}" if seconds > 0 else f"{text} ago"


def local_text(epoch: int, zone: tzinfo) -> str:
    """Return an instant (epoch seconds) as a clock in ``zone`` shows it: ``Mon 2026-11-23 06:00 -0500``.

    Seconds are shown only where they are not zero. An instant outside the years 1 to 9999, which no calendar
    here can show, is written ``epoch 99999999999999``.
    """
    try:
        moment = (_EPOCH + timedelta(seconds=epoch)).astimezone(zone)
    except OverflowError:
        return f"epoch {epoch}"
    clock = f"{moment:%H:%M:%S}" if moment.second else f"{moment:%H:%M}"
    date = f"{moment.year:04}-{moment.month:02}-{moment.day:02}"
    return f"{short_weekday(moment)} {date} {clock} {_offset(moment)}"


def _offset(moment: datetime) -> str:
    whole = (moment.utcoffset() or timedelta(0)) // timedelta(seconds=1)
    minutes, seconds = divmod(abs(whole), 60)
    tail = f"{seconds:02}" if seconds else ""
    return f"{'-' if whole < 0 else '+'}{minutes // 60:02}{minutes % 60:02}{tail}"
