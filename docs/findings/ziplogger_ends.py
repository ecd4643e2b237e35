"""Shows what ziplogger loses: after an answer that is not HTTP, and when it is closed with a full queue (docs/findings.md).

pip install ziplogger==0.5.0 && python ziplogger_ends.py
"""

import http.client
import logging
import threading
import time
import urllib.request
from contextlib import AbstractContextManager, nullcontext

from ziplogger import ZipLoggerHandler

sent: list[int] = []
bad: list[int] = []  # the numbers of these answers
CASES = (([2], 0.6, {"flush_interval": 0.1}), ([], 0, {"flush_interval": 60, "queue_size": 6, "batch_size": 4}))


def urlopen(request: urllib.request.Request, **_: float) -> AbstractContextManager[None]:
    """Take 0.3 s for a batch; one of them is answered with something else, as by a proxy that goes down."""
    sent.append(request.data.count(b'"message"'))
    time.sleep(0.3)
    if len(sent) in bad:
        raise http.client.BadStatusLine("oops")  # as http.client does
    return nullcontext()


urllib.request.urlopen, threading.excepthook = urlopen, lambda end: print("the worker ended:", repr(end.exc_value))
for bad[:], pause, options in CASES:
    sent.clear()
    handler = ZipLoggerHandler("http://127.0.0.1", "key", **options)
    for number in range(10):
        handler.handle(logging.makeLogRecord({"msg": str(number), "levelno": logging.INFO}))
        time.sleep(0.1 if number == 3 else pause)
    began = time.monotonic()
    handler.close()
    print(f"{sum(sent)} of 10 were sent, dropped: {handler.dropped}; close took {time.monotonic() - began:.1f} s")
