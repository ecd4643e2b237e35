"""What matplotlib writes, made fit for a page with a strict policy, for a dark screen, and for those who cannot see it.

`style` attributes, which a Content-Security-Policy forbids, become presentation attributes; each colour also gets a class,
which a page or the file's own style can recolour; ids get a prefix, so that several drawings fit into one page; and the
drawing gets a title and a description.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

from batchproof.reports.plots.colours import LIGHT, ROLE_OF, dark_style

SVG = "http://www.w3.org/2000/svg"
HREF = "{http://www.w3.org/1999/xlink}href"
FONTS = "DejaVu Sans, Verdana, sans-serif"  # Verdana has the widths of DejaVu Sans, by which the text was placed
PAINTS = {"fill": "f", "stroke": "s"}
KEPT = {
    "fill",
    "fill-opacity",
    "fill-rule",
    "font-size",
    "font-weight",
    "opacity",
    "stroke",
    "stroke-dasharray",
    "stroke-dashoffset",
    "stroke-linecap",
    "stroke-linejoin",
    "stroke-opacity",
    "stroke-width",
    "text-anchor",
}
_LONG = re.compile(r"-?\d+\.\d{3,}")
_LINK = re.compile(r"url\(#([^)]+)\)")


def accessible(text: str, name: str, title: str, told: str, *, alone: bool) -> str:
    """Return the drawing, with what it is called and what it says. name: the prefix of its ids.

    alone: it is a file of its own: with a size, a background, and a style for dark screens.
    """
    ET.register_namespace("", SVG)
    root = ET.fromstring(text)  # noqa: S314 - our own, written just now
    prefix = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") or "chart"
    _strip(root)
    used = set(_references(root))
    for element in root.iter():
        _plain(element, prefix, used)
    width, height = root.get("viewBox", "0 0 1 1").split()[2:]
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.attrib |= {"width": f"{float(width) * 4 / 3:.0f}", "height": f"{float(height) * 4 / 3:.0f}"}  # points in CSS pixels
    root.attrib |= {
        "role": "img",
        "aria-labelledby": f"{prefix}-title {prefix}-told",
        "font-family": FONTS,
        "stroke-linejoin": "round",
    }
    extra = [_element("title", title, id=f"{prefix}-title"), _element("desc", told, id=f"{prefix}-told")]
    if alone:
        extra += [_element("style", dark_style()), _element("rect", "", width="100%", height="100%", fill=LIGHT["paper"])]
        extra[-1].set("class", "f-paper")
    for at, one in enumerate(extra):
        root.insert(at, one)
    return ET.tostring(root, encoding="unicode") + "\n"


def _strip(root: ET.Element) -> None:
    """Remove metadata, and matplotlib's own style, which would hold for a whole page."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)


def _references(root: ET.Element) -> Iterator[str]:
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == HREF:
                yield value.removeprefix("#")
            yield from _LINK.findall(value)


def _plain(element: ET.Element, prefix: str, used: set[str]) -> None:
    """Turn the style of an element into attributes, and make its id and its references its drawing's own."""
    declared = [one.split(":", 1) for one in element.attrib.pop("style", "").split(";") if ":" in one]
    classes = []
    for key, value in ((key.strip(), value.strip()) for key, value in declared):
        if key not in KEPT:
            continue
        element.set(key, value)
        if key in PAINTS and (role := ROLE_OF.get(value.lower())):
            classes.append(f"{PAINTS[key]}-{role}")
    if classes:
        element.set("class", " ".join(classes))
    if (own := element.attrib.pop("id", "")) in used:
        element.set("id", f"{prefix}-{own}")
    if target := element.attrib.pop(HREF, ""):
        element.set("href", f"#{prefix}-{target.removeprefix('#')}")
    for key, value in element.attrib.items():
        if key != "id":
            linked = _LINK.sub(lambda found: f"url(#{prefix}-{found[1]})", value)
            element.set(key, _LONG.sub(lambda found: f"{float(found[0]):.2f}", linked).replace("\n", ""))


def _element(tag: str, text: str, **attributes: str) -> ET.Element:
    made = ET.Element(f"{{{SVG}}}{tag}", attributes)
    made.text = text or None
    return made
