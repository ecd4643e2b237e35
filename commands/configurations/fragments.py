"""What the mutants of a configuration are made from: values at edges, strings, words, and whole fields, right and wrong."""

from __future__ import annotations

import sys
from importlib.resources import files

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

INTEGERS = (
    "0", "-1", "1", "2", "3", "7", "9", "64", "-2", "-3", "2147483647", "2147483648", "-2147483648", "-2147483649",
    "4294967295", "4294967296", "9223372036854775807", "9223372036854775808", "18446744073709551615",
    "18446744073709551616", "1.0", "1.5", "1e3", "0x10", "010", "08", "0b1", "1_000", "+1", "- 1", "--1", '"4"',
    "true", "nan", "inf", "four", "4f", "", "[]", "[1]", "[1, 2]", "[1, -1]", "{}", "4;", "4,", "4 # four",
)  # fmt: skip
STRINGS = (
    '""', '" "', '"a b"', "'single'", '"a" "b"', '"über"', '"\\303\\274"', '"\\xff"', '"\udcff"', '"\\n"',
    '"a\nb"', '"a', "a", '"日本"', '"🙂"', '"\\u00fc"', '"\\U0001F642"', '"\\q"', '"\\0"', '"a\\tb"', '"../up"',
    '"a/b"', '"."', '"tensorrt_plan"', '"ensemble"', '"python"', '"tensorrt"', '"onnxruntime_onnx"',
    '"pytorch_libtorch"', '"tensorflow_graphdef"', '"Python"', '"onnx"', '"IN"', '"OUT"', '"absent"', "4", "[]",
    '["a"]', '["a", "b"]', "TYPE_FP32", f'"{"x" * 300}"', '"${name}"', '"{{ name }}"', "$name",
)  # fmt: skip
ENUMS = (
    "TYPE_INVALID", "TYPE_BOOL", "TYPE_STRING", "TYPE_BF16", "TYPE_FP16", "TYPE_FP32", "TYPE_INT32", "TYPE_INT64",
    "TYPE_FLOAT", "TYPE_BYTES", "type_fp32", "FP32", '"TYPE_FP32"', "0", "1", "9", "14", "99", "-1", "KIND_CPU",
    "KIND_MODEL", "KIND_AUTO", "KIND_GPUS", "FORMAT_NHWC", "FORMAT_NCHW", "FORMAT_NONE", "CONTROL_SEQUENCE_START",
    "CONTROL_SEQUENCE_READY", "CONTROL_SEQUENCE_CORRID", "CONTROL_SEQUENCE_END", "REJECT", "DELAY", "true",
    "false", "True", "t", "f", "1", "0", "2", "yes", '"true"', "BATCH_ELEMENT_COUNT",
    "BATCH_MAX_ELEMENT_COUNT_AS_SHAPE", "BATCH_ITEM_SHAPE", "BATCH_SCATTER_WITH_INPUT_SHAPE", "",
)  # fmt: skip
WHITESPACE = (
    "\r", "\r\n", "\t", "\v", "\f", "\0", "\u00a0", "\ufeff", "\u2028", "# comment", "# \udcff\udcfe",
    "# über 日本 🙂", "// comment", "/* comment */", ";", ",", ";;", ",,", "#", "# a\rbackend: 3", "\\", "'", '"',
    "\x01", "\x7f", "\udc80", "-", "…",
)  # fmt: skip

_LISTS = tomllib.loads((files("batchproof.commands.configurations") / "fragments.toml").read_text(encoding="utf-8"))
FIELDS = tuple(_LISTS["fields"].splitlines())
NESTED = tuple(_LISTS["nested"].splitlines())
