"""Why a request is refused. Each of these reaches the caller through the request's own Future."""


class BatcherError(Exception):
    """Any refusal by the batcher itself; an exception of the model is passed on as it is."""


class Oversize(BatcherError):
    """The request has no rows, or more than `max_batch_size`: it can never be part of a batch."""


class Expired(BatcherError):
    """The request waited in the queue for longer than its queue timeout; it was never executed."""


class Closed(BatcherError):
    """The batcher is closed or closing and takes no new requests."""
