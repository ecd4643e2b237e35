"""Shows what becomes of the records that wait when datadog-async-handler is closed (docs/findings.md).

pip install datadog-async-handler==0.1.4 && python datadog_close.py
"""

import logging
import time
from typing import Any

from datadog_http_handler import DatadogHTTPHandler

handler = DatadogHTTPHandler("key", batch_size=10, max_retries=0)
sent = []


def submit_log(body: Any) -> None:
    """Take half a second for a batch, as a slow intake does."""
    time.sleep(0.5)
    sent.extend(body.value)


handler.logs_api.submit_log = submit_log
log = logging.getLogger("app")
log.addHandler(handler)
for number in range(100):
    log.warning("%d", number)
logging.shutdown()  # flushes and closes each handler
time.sleep(1)
print(f"{len(sent)} of 100 were sent, {handler.get_queue_size()} are left; the handler works: {handler.health_check()}")
