"""Shows which batches async-kinesis puts when many callers wait, and after a throttled answer (docs/findings.md).

pip install async-kinesis==3.0.1 && python kinesis_batches.py
"""

import asyncio
import time
from typing import Any

from kinesis import Producer

REFUSED = {"ErrorCode": "ProvisionedThroughputExceededException"}


class Offline(Producer):
    """A producer whose client takes 0.1 s for a batch. throttles: how many batches it refuses first."""

    async def get_client(self) -> None:
        self.client, self.began, self.seen = self, time.monotonic(), []

    async def put_records(self, **asked: Any) -> dict[str, Any]:
        count, failed = len(asked["Records"]), self.throttles > 0
        self.seen.append(f"{count} after {time.monotonic() - self.began:.1f} s")
        self.throttles -= 1
        await asyncio.sleep(0.1)
        return {"FailedRecordCount": count * failed, "Records": [REFUSED if failed else {}] * count}


async def put_all(count: int, size: int, throttles: int = 0) -> None:
    """Put so many records at once, and print the batches."""
    producer = Offline("test", region_name="eu-central-1", skip_describe_stream=True, buffer_time=2, batch_size=size,
                       put_rate_limit_per_shard=10**6)  # fmt: skip
    producer.throttles = throttles
    await producer.start()
    await asyncio.gather(asyncio.sleep(3), *(producer.put(number) for number in range(count)))
    print(f"{count} records, at most {size} in a batch:", ", ".join(producer.seen))


for case in ((4, 4), (12, 4), (1001, 500, 1)):
    asyncio.run(put_all(*case))
