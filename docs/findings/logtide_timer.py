"""Shows which records of logtide-sdk wait until another batch has been sent (docs/findings.md).

pip install logtide-sdk==0.10.0 && python logtide_timer.py
"""

import time

from logtide_sdk import ClientOptions, LogEntry, LogTideClient


class Slow(LogTideClient):
    """A client whose server takes 3 s for a batch."""

    def _send_logs(self, log_entries: list[LogEntry]) -> None:
        print(f"{time.monotonic() - began:.1f} s:", ", ".join(one.message for one in log_entries))
        time.sleep(3)


client = Slow(ClientOptions(api_url="http://127.0.0.1", api_key="key", service="app", flush_interval=200))
began = time.monotonic()
client.info("at 0.0 s")
time.sleep(0.5)
client.info("at 0.5 s, with a flush_interval of 0.2 s")
time.sleep(3)
client.close()
