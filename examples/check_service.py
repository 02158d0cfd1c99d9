"""A web service that checks submit files: POST one, and the findings come back as JSON. Nothing in it is ever run.

Run `python examples/check_service.py`, and `curl --data-binary @job.sub http://127.0.0.1:8000/` beside it.
"""

import json
import time
from wsgiref.simple_server import make_server

from crondor import CheckSettings, Source, check_submit
from crondor.lint import report_data


def service(environ, start_response):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Check what is posted, at most a mebibyte of it."""
    size = min(int(environ.get("CONTENT_LENGTH") or 0), 1 << 20)
    text = environ["wsgi.input"].read(size).decode("utf-8", "replace")
    report = check_submit(Source(text, "job.sub"), CheckSettings(now=int(time.time()), zone="Europe/Berlin"))
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(report_data(report)).encode()]


if __name__ == "__main__":
    make_server("127.0.0.1", 8000, service).serve_forever()
