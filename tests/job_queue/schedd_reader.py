"""What HTCondor's schedd makes of a log, by its own way of reading: words and bytes, never lines.

It is written from the rules (``LogRecord::readword``, ``readline``, ``ReadBody`` of each record, ``LoadClassAdLog``),
apart from crondor's reader, so that the two can be compared.
"""

import re

BLANK = b" \t\n\v\f\r"
Ads = dict[str, dict[str, str]]


class Refused(Exception):
    """The schedd would not start."""


class _End(Exception):
    """A record cannot be read."""


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def byte(self) -> bytes:
        found = self.data[self.at : self.at + 1]
        self.at += 1
        if found in (b"", b"\0"):
            raise _End
        return found

    def word(self) -> str:
        byte = self.byte()
        while byte in BLANK and byte != b"\n":
            byte = self.byte()
        word = b""
        while byte not in BLANK:
            word += byte
            byte = self.byte()
        if not word:
            raise _End
        return word.decode()

    def rest(self) -> str:
        end = self.data.find(b"\n", self.at)
        if end <= self.at or b"\0" in self.data[self.at : end]:
            raise _End
        found = self.data[self.at : end].decode()
        self.at = end + 1
        return found

    def body(self, op: int) -> tuple[str, ...]:
        if op == 0:
            raise _End
        if op == 101:
            return self.word(), self.word(), self.word()
        if op == 102:
            return (self.word(),)
        if op == 103:
            return self.word(), self.word(), self.rest()
        if op == 104:
            return self.word(), self.word()
        if op == 107:
            return self.word(), self.word(), self.word()
        byte = self.byte()
        if op == 106 and byte == b"#":
            self.rest()
        elif byte != b"\n":
            raise _End
        return ()


def schedd_recovers(data: bytes) -> tuple[Ads, bool]:
    """Return the ads by key, attributes in lower case, and whether all of the log was read and every transaction whole.

    Raises Refused.
    """
    reader = _Reader(data)
    ads: Ads = {}
    waiting: list[tuple[int, tuple[str, ...]]] | None = None
    read = 0
    while True:
        try:
            word = reader.word()
        except _End:
            break
        try:
            number = re.match(r"\+?0*(10[1-7])(?!\d)", word)
            op = int(number[1]) if number else 0
            body = reader.body(op)
        except _End:
            if re.search(rb"^\s*106(?!\d)", reader.data[reader.at :], re.MULTILINE):
                raise Refused from None
            return ads, False
        read = reader.at
        if op == 105:
            waiting = waiting or []
        elif op == 106:
            for record in waiting or ():
                _play(ads, *record)
            waiting = None
        elif waiting is not None:
            waiting.append((op, body))
        else:
            _play(ads, op, body)
    return ads, read == len(data) and waiting is None


def _play(ads: Ads, op: int, body: tuple[str, ...]) -> None:
    if op == 107:
        return
    match = re.fullmatch(r"(-?\d+)\.-1", body[0])
    key = f"0{int(match[1])}.-1" if match else body[0]
    if op == 101:
        kind = "" if body[1] == "(empty)" else body[1]
        made = {"mytype": f'"{kind}"'} | ({"targettype": '"Machine"'} if kind.lower() == "job" else {})
        ads.setdefault(key, made)
    elif key in ads and op == 102:
        del ads[key]
    elif key in ads and op == 103:
        ads[key][body[1].lower()] = body[2]
    elif key in ads:
        ads[key].pop(body[1].lower(), None)
