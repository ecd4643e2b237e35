"""The frame of every page: one HTML file without a network, in light and dark, on paper and on a telephone.

What a target said may stand anywhere on a page, and it is always text. Three things see to that. Every template escapes
whatever it prints, unless it is `Markup` already. Characters that cannot be seen, or that reorder their neighbours, are
printed as what they are. And the document's own policy (Content-Security-Policy) lets nothing run or load but the script
and the style that this module put there, which it knows by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from batchproof import __version__

# Control characters, those that have no width, and those that change the direction of the text around them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)


def visible(text: object) -> str:
    r"""Return the text with every unseen character written out as `\u202e`, so that a reader sees that it is there."""
    return _UNSEEN.sub(lambda found: _written_out(ord(found[0])), str(text))


def _written_out(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@cache
def environment(package: str = "") -> Environment:
    """Return the environment for templates: those in the folder `templates` of a package, and those next to this file.

    It always escapes, it makes unseen characters visible, and a name that a template misspells is an error.
    """
    places = [PackageLoader(one, "templates") for one in (package, __package__) if one]
    return Environment(
        loader=ChoiceLoader(places),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )


def _finalized(value: Any) -> Any:
    return value if hasattr(value, "__html__") else visible(value)


def render(template: str, package: str = "", **values: Any) -> Markup:
    """Return what a template makes of these values, as `Markup` that another template may take in as it is."""
    return Markup(environment(package).get_template(template).render(**values))  # noqa: S704


def asset(name: str, package: str = "") -> str:
    """Return a file of the folder `templates` as it stands, such as a style or a script."""
    return files(package or __package__).joinpath("templates", name).read_text(encoding="utf-8")


def page(title: str, body: Markup, *, style: str = "", script: str = "") -> str:
    """Return a whole document. A `body` that is a plain string is shown as text: hand over what `render` returned.

    style, script: CSS and JavaScript of our own, without anything from outside in them. Data for a script stands in the
    body, in a `<script type="application/json">` that was written with the filter `tojson`. The policy allows no other
    script, no `style` attributes, no address elsewhere, and images only from `data:`. ValueError if the style or the script
    could end its element early.
    """
    style = f"{asset('base.css')}\n{style}".strip()
    if "</style" in style.lower() or "</script" in script.lower() or "<!--" in script:
        raise ValueError("a style or script must not hold the end of its own element")
    values = {"title": title, "body": body, "style": Markup(style), "script": Markup(script)}  # noqa: S704
    return str(render("page.html", policy=_policy(style, script), version=__version__, **values)) + "\n"


def _policy(style: str, script: str) -> str:
    """Return the policy that lets just this style and this script work."""
    scripts = _hashed(script) if script else "'none'"
    return (
        f"default-src 'none'; style-src {_hashed(style)}; script-src {scripts}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
