"""The claims of engines that form their batch in each iteration."""

from __future__ import annotations

from batchproof.targets.claims.claim import OR_NOTHING, Claim

ENGINES = (
    Claim(
        "iterations",
        "An engine's iterations happen by themselves (`free`), or the adapter runs them one at a time (`stepped`).",
        "iterations that can be run one at a time",
        ("free", "stepped"),
    ),
    Claim(
        "text",
        "The language model in the engine is the witness, whose text tells the whole context (`witness`), or the same thing "
        "as a transformer, for engines that take only graphs (`graph`). Or nobody knows it (`unknown`): then texts are only "
        "compared with each other.",
        "a language model whose text is known",
        ("witness", "graph", "unknown"),
        noun_of_value="a language model that nobody knows",
    ),
    Claim(
        "joins_within",
        "A request for which there is room takes part at the latest in this iteration after its arrival: 1 is the next one. "
        "An engine may keep the KV blocks of a whole prompt from its start, without preemption those of a whole text.",
        "a bound on when a request joins",
        OR_NOTHING,
        least=1,
    ),
    Claim(
        "admission",
        "Requests are admitted in the order of their arrival (`arrival`).",
        "admission in the order of arrival",
        (False, "arrival"),
    ),
    Claim("chunked_prefill", "A long prompt may be computed in several iterations.", "chunked prefill"),
    Claim(
        "mixed_iterations",
        "An iteration may compute prompts of some requests and next tokens of others.",
        "iterations with prompts and next tokens",
    ),
    Claim(
        "stall_free",
        "While prompts are computed, every running text goes on in each iteration.",
        "running texts that go on alongside prompts",
    ),
    Claim(
        "goes_on_within",
        "However many prompts come, a running text gets its next token this many iterations later at most, as long as its "
        "KV blocks are not taken: 1 is each iteration.",
        "a bound on how long prompts hold up a text",
        OR_NOTHING,
        least=1,
    ),
    Claim(
        "request_priorities",
        "Requests have priorities, and a lower number comes first: in the queue (`admission`), or it also displaces running "
        "requests (`preempting`).",
        "priorities of requests",
        (False, "admission", "preempting"),
    ),
    Claim(
        "ages",
        "A waiting request gains a level of priority every so many iterations, so that none waits for ever behind others "
        "that are more urgent and keep coming. If false, a priority stays as it was sent. An engine with levels of its own, "
        "and no priorities of requests, claims after how many iterations of waiting one comes before newcomers.",
        "priorities that age",
        OR_NOTHING,
        least=1,
    ),
    Claim(
        "preemption",
        "If the KV cache is full, a running request loses its blocks: it is computed again later (`recompute`), kept in "
        "other memory (`swap`), or now the one and now the other (`either`).",
        "preemption",
        (False, "recompute", "swap", "either"),
    ),
    Claim(
        "keeps_place",
        "A request that has lost its KV blocks keeps its place in the order of admission: it comes back before any that "
        "come after it.",
        "requests that keep their place when they lose their KV blocks",
    ),
    Claim(
        "most_waiting",
        "So many requests may wait, and more are refused; one that has lost its KV blocks may count as well.",
        "a limit on how many requests wait",
        OR_NOTHING,
        least=1,
        changes="Rules never let more requests wait, but for CB-LAW-010, which judges who is refused.",
    ),
    Claim(
        "prefix_cache",
        "Requests that begin alike share KV blocks (true), or what a request leaves behind serves one that begins alike at "
        "a time, which takes over its place (`handed-on`).",
        "a prefix cache",
        (False, True, "handed-on"),
    ),
    Claim(
        "takes_turns",
        "An engine may keep more requests in its KV cache than an iteration has rows (max_num_seqs), and these take turns. "
        "If false, a request that runs is in each iteration that has room for it.",
        "more requests that run than an iteration has rows",
    ),
    Claim(
        "stages",
        "So many iterations are under way at the same time, each of other requests, as with micro-batches in the stages of "
        "a pipeline: a request that runs is in at least one of so many in a row. 1: it is in each.",
        "one iteration at a time",
        least=1,
    ),
    Claim(
        "long_prefill_limit",
        "A limit can be set on the tokens of a prompt that an iteration computes while there are other requests.",
        "a limit on long prompts alongside others",
    ),
    Claim("samples", "A request may ask for several continuations of its prompt.", "several continuations"),
    Claim("streaming", "Tokens are delivered while others are still made.", "streaming"),
    Claim(
        "streams_within",
        "A token comes out this many iterations after it is made at the latest: 1 is the end of the one that makes it.",
        "a bound on when a token comes out",
        OR_NOTHING,
        least=1,
    ),
    Claim(
        "looks_ahead",
        "An iteration is formed before the tokens of this many earlier ones are known (asynchronous scheduling): a text is "
        "computed this often after its last token or an abort at most, and what that makes is thrown away.",
        "iterations that are formed ahead",
        OR_NOTHING,
        least=1,
    ),
    Claim(
        "speculates",
        "After the last token of a text, an iteration may compute this many guessed ones at most (speculative decoding). "
        "Those that are right come out together, and the others are thrown away.",
        "speculative decoding",
        OR_NOTHING,
        least=1,
    ),
    Claim("stop_tokens", "A request may name tokens that end its text.", "stop tokens"),
    Claim("gauges", "An engine tells how many requests run and wait, and how full its KV cache is.", "gauges"),
    Claim("kv_blocks", "The number of KV blocks can be set.", "a size of the KV cache"),
    Claim(
        "token_budget",
        "How many tokens an iteration computes at most can be set.",
        "a token budget",
        (True, False),
        changes="If false, rules deploy a budget that no iteration can reach.",
    ),
    Claim(
        "max_model_len",
        "The longest text, a prompt and its continuation, can be set.",
        "a limit of prompt and continuation together",
        (True, False),
    ),
    Claim(
        "block_size",
        "The smallest KV block that can be set, in tokens.",
        "a block of one token",
        least=1,
        changes="Rules deploy blocks of this size, and measure prompts in blocks.",
    ),
    Claim(
        "duplicate_ids",
        "A request whose ID another one has at this moment is refused (`refused`), or both are served (`apart`).",
        "a rule for duplicate IDs",
        (False, "refused", "apart"),
    ),
    Claim("disconnects", "A client that goes away takes its request back.", "clients that go away"),
)
