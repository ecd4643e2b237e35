"""Why a stranger refuses a request."""


class TooLarge(ValueError):
    """The request has more rows than a batch may have."""


class QueueFull(RuntimeError):
    """As many requests wait as may wait."""


class TooLate(TimeoutError):
    """The request has waited for longer than the queue timeout."""


class Stopped(RuntimeError):
    """The batcher has been closed."""
