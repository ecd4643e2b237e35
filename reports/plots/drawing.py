"""Draws any chart, with matplotlib, as SVG or PNG. Nothing is kept between two drawings, and no display is needed."""

from __future__ import annotations

import io
import math
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from batchproof.reports.plots.chart import Axis, Chart, Heat, Line, Panel, Point, Series, Span, short
from batchproof.reports.plots.colours import DASHES, LIGHT, MARKS, SIZES
from batchproof.reports.plots.svg import accessible
from batchproof.reports.wording import line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL_INCHES = (4.6, 3.4)
CELL_INCHES = (0.92, 0.62)
DPI = 160
HEADROOM = 1.18  # above the largest figure, for the labels of lines
HATCH = "////"
FEW_DECADES = 8  # a logarithmic axis that spans less has the ticks of a linear one, or it would have one or two
RC = {
    "svg.fonttype": "none",  # text stays text: it can be searched, copied, and read aloud
    "svg.hashsalt": "batchproof",  # the same chart gives the same file
    "text.parse_math": False,  # a name from outside is never a formula
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titlelocation": "left",
    "axes.titlepad": 8.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": LIGHT["soft"],
    "axes.labelcolor": LIGHT["ink"],
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": LIGHT["grid"],
    "grid.linewidth": 0.6,
    "text.color": LIGHT["ink"],
    "xtick.color": LIGHT["soft"],
    "ytick.color": LIGHT["soft"],
    "hatch.color": LIGHT["invalid"],
    "hatch.linewidth": 0.8,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
}


class Undrawable(Exception):
    """Charts cannot be drawn here; the message says what to install."""


def to_svg(chart: Chart, panel: int | None = None, *, alone: bool = True) -> str:
    """Return a chart as SVG: all of it, or one of its panels.

    alone: it is a file of its own, with a background and colours for a dark screen; otherwise a page gives it both.
    Undrawable without matplotlib.
    """
    panels, title = (chart.panels, chart.title) if panel is None else ((chart.panels[panel],), "")
    with _drawn(panels, title) as figure:
        out = io.StringIO()
        figure.savefig(out, format="svg", facecolor="none", metadata={"Date": None, "Creator": None})
    name = chart.name if panel is None else f"{chart.name}-{panel}"
    return accessible(out.getvalue(), name, line(chart.title), _told(chart), alone=alone)


def to_png(chart: Chart) -> bytes:
    """Return a chart as PNG, on white, with what it says in its metadata; Undrawable without matplotlib."""
    with _drawn(chart.panels, chart.title) as figure:
        out = io.BytesIO()
        about = {"Title": line(chart.title), "Description": _told(chart), "Software": None}
        figure.savefig(out, format="png", dpi=DPI, facecolor="white", metadata=about)
    return out.getvalue()


def _told(chart: Chart) -> str:
    return " ".join(filter(None, [line(chart.says), *chart.notes]))


@contextmanager
def _drawn(panels: Sequence[Panel | Heat], title: str) -> Iterator[Figure]:
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise Undrawable(f"charts need the module '{error.name}': pip install 'batchproof[plots]'") from None
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a character that the font lacks is a box, and a browser has other fonts
        mpl.rcdefaults()  # not what a matplotlibrc of this machine says
        mpl.rcParams.update(RC)
        sizes = [_inches(panel) for panel in panels]
        figure = Figure(figsize=(sum(wide for wide, _ in sizes), max(high for _, high in sizes)), layout="constrained")
        if title:
            figure.suptitle(line(title), x=0.01, ha="left", fontsize=11, weight="bold")
        places = figure.subplots(1, len(panels), squeeze=False, width_ratios=[wide for wide, _ in sizes])[0]
        for panel, axes in zip(panels, places, strict=True):
            if isinstance(panel, Heat):
                _heat(axes, panel)
            else:
                _panel(axes, panel)
        yield figure


def _inches(panel: Panel | Heat) -> tuple[float, float]:
    if isinstance(panel, Panel):
        return PANEL_INCHES
    wide, high = CELL_INCHES
    return max(PANEL_INCHES[0], 1.0 + wide * len(panel.columns)), 1.2 + high * len(panel.rows)


def _panel(axes: Axes, panel: Panel) -> None:
    axes.set_title(line(panel.title))
    if why := panel.nothing:
        _void(axes, line(why))
        return
    for series in panel.series:
        _series(axes, series, panel.invalid)
    _axis(axes, "x", panel.x)
    _axis(axes, "y", panel.y)
    _limits(axes, panel)
    for span in _merged(panel.invalid):
        _hatched(axes, span)
    for one in panel.lines:
        _line(axes, one)
    if any(one.label for one in panel.series):
        axes.legend(loc="upper left", bbox_to_anchor=(-0.02, -0.17), ncols=1, handlelength=2.6, borderaxespad=0.0)


def _series(axes: Axes, one: Series, invalid: Sequence[Span]) -> None:
    if not one.points:
        return
    colour, (x, y) = LIGHT[one.role], _line_of(one, invalid)
    look: dict[str, Any] = {"color": colour, "linestyle": DASHES[one.role], "linewidth": 1.6}
    if one.marks:
        size = SIZES[one.role]
        look |= {"marker": MARKS[one.role], "markersize": size, "markerfacecolor": "none", "markeredgewidth": 1.4}
    if not one.joined or (one.role == "predicted" and one.marks):
        look |= {"linestyle": "none"}
    axes.plot(x, y, label=line(one.label), drawstyle="steps-post" if one.steps else "default", zorder=3, **look)
    bounded = [point for point in one.points if point.bounded and not point.exact]
    if one.band:
        _band(axes, bounded, colour)
    else:
        _bars(axes, bounded, colour)


def _line_of(one: Series, invalid: Sequence[Span]) -> tuple[list[float], list[float]]:
    """Return the places of its points. No line leads through an INVALID part, as if something were known there."""
    x, y = [one.points[0].x], [one.points[0].y]
    for before, after in pairwise(one.points):
        if any(span.low < after.x and span.high > before.x for span in invalid):
            x.append(after.x)
            y.append(math.nan)
        x.append(after.x)
        y.append(after.y)
    return x, y


def _band(axes: Axes, points: Sequence[Point], colour: str) -> None:
    low = [point.y if point.low is None else point.low for point in points]
    high = [point.y if point.high is None else point.high for point in points]
    axes.fill_between([point.x for point in points], low, high, color=colour, alpha=0.22, linewidth=0, zorder=2)


def _bars(axes: Axes, points: Sequence[Point], colour: str) -> None:
    below = [0.0 if point.low is None else point.y - point.low for point in points]
    above = [0.0 if point.high is None else point.high - point.y for point in points]
    look: dict[str, Any] = {"color": colour, "capsize": 3.5, "elinewidth": 1.3, "linestyle": "none", "zorder": 3}
    axes.errorbar([point.x for point in points], [point.y for point in points], yerr=[below, above], **look)
    for point in points:
        for bound, arrow, side in ((point.high, "↑", 1), (point.low, "↓", -1)):
            if bound is None:
                axes.annotate(
                    arrow,
                    (point.x, point.y),
                    (0, 4 * side),
                    textcoords="offset points",
                    color=colour,
                    ha="center",
                    va="bottom" if side > 0 else "top",
                    fontsize=9,
                )


def _axis(axes: Axes, which: str, axis: Axis) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    shown = axes.xaxis if which == "x" else axes.yaxis
    axes.set(**{f"{which}label": line(axis.label)})
    if axis.log:
        axes.set(**{f"{which}scale": "log"})
        shown.set_minor_locator(NullLocator())
    if axis.ticks:
        shown.set_ticks([place for place, _ in axis.ticks], [label for _, label in axis.ticks])
    else:
        shown.set_major_locator(
            LogLocator(subs=(1, 2, 5)) if axis.log else MaxNLocator(6, integer=axis.whole, steps=[1, 2, 2.5, 5, 10])
        )
        shown.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if abs(value) >= 1000 else f"{value:g}"))


def _limits(axes: Axes, panel: Panel) -> None:
    """Leave room above for labels, begin at 0 where asked to, and never cut an INVALID part or a limit off."""
    from matplotlib.ticker import MaxNLocator

    for one in panel.lines:
        if one.axis == "y":
            axes.update_datalim([(axes.dataLim.x0, one.at)], updatex=False)
    for span in panel.invalid:
        axes.update_datalim([(span.low, axes.dataLim.y0), (span.high, axes.dataLim.y0)], updatey=False)
    axes.autoscale_view()
    low, high = axes.get_ylim()
    if panel.y.log:
        if 0 < high < FEW_DECADES * low:
            axes.yaxis.set_major_locator(MaxNLocator(5))
        axes.set_ylim(low, high * (high / low) ** (HEADROOM - 1) if low > 0 else high)
    else:
        low = 0.0 if panel.y.zero else low
        axes.set_ylim(low, low + (high - low) * HEADROOM)
    if panel.x.zero:
        axes.set_xlim(left=0.0)
    if panel.x.reach:
        axes.set_xlim(panel.x.reach)


def _line(axes: Axes, one: Line) -> None:
    colour = LIGHT["limit" if one.limit else "soft"]
    dash = (0, (6, 2)) if one.limit else (0, (2, 2))
    look: dict[str, Any] = {"color": colour, "linewidth": 1.6 if one.limit else 1.1, "linestyle": dash}
    box = {"facecolor": LIGHT["paper"], "edgecolor": "none", "pad": 1.0, "alpha": 0.8}
    if one.axis == "y":
        axes.axhline(one.at, zorder=2.5, **look)
        axes.annotate(
            line(one.label),
            (1.0, one.at),
            (0, 3),
            ("axes fraction", "data"),
            "offset points",
            ha="right",
            va="bottom",
            color=colour,
            fontsize=8.5,
            bbox=box,
            zorder=2.7,
        )
        return
    axes.axvline(one.at, zorder=2.5, **look)
    across = axes.transAxes.inverted().transform(axes.transData.transform((one.at, axes.get_ylim()[0])))[0]
    left = across > 0.6
    axes.annotate(
        line(one.label),
        (one.at, 1.0),
        (-4 if left else 4, -1),
        ("data", "axes fraction"),
        "offset points",
        ha="right" if left else "left",
        va="top",
        color=colour,
        fontsize=8.5,
        bbox=box,
        zorder=2.7,
    )


def _merged(spans: Sequence[Span]) -> list[Span]:
    """Return neighbours as one, so that the word INVALID does not stand in each."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda one: one.low):
        if found and span.low <= found[-1].high * (1 + 1e-9):
            found[-1] = Span(found[-1].low, max(found[-1].high, span.high), found[-1].why)
        else:
            found.append(span)
    return found


def _hatched(axes: Axes, span: Span) -> None:
    axes.axvspan(span.low, span.high, facecolor="none", edgecolor=LIGHT["invalid"], hatch=HATCH, linewidth=0, zorder=1)
    start, end = axes.get_xlim()
    low, high = max(span.low, start), min(span.high, end)  # the part of it that is seen
    middle = (low * high) ** 0.5 if axes.get_xscale() == "log" else (low + high) / 2
    axes.annotate(
        "INVALID",
        (middle, 0.5),
        xycoords=("data", "axes fraction"),
        rotation=90,
        ha="center",
        va="center",
        fontsize=8.5,
        color=LIGHT["soft"],
        bbox={"facecolor": LIGHT["paper"], "edgecolor": "none", "pad": 1.5},
    )


def _void(axes: Axes, why: str) -> None:
    from matplotlib.patches import Rectangle

    axes.set(xticks=[], yticks=[], xlim=(0, 1), ylim=(0, 1))
    axes.add_patch(Rectangle((0, 0), 1, 1, facecolor="none", edgecolor=LIGHT["invalid"], hatch=HATCH, linewidth=0))
    axes.text(
        0.5,
        0.5,
        _wrapped(why, 44),
        ha="center",
        va="center",
        color=LIGHT["ink"],
        bbox={"facecolor": LIGHT["paper"], "edgecolor": "none", "pad": 4},
    )


def _heat(axes: Axes, heat: Heat) -> None:
    from matplotlib.patches import Rectangle

    axes.set_title(line(heat.title))
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    most = max((cell.point.y for cell in heat.cells if cell.point), default=0.0)
    for cell in heat.cells:
        corner, point = (cell.column - 0.47, cell.row - 0.46), cell.point
        look: dict[str, Any] = {"edgecolor": LIGHT["soft"], "linewidth": 0.6}
        if point is None:
            look |= {"facecolor": "none", "hatch": HATCH, "edgecolor": LIGHT["invalid"]}
        else:
            share = point.y / most if most > 0 else 0.0
            look |= {"facecolor": (*_rgb(LIGHT["first"]), 0.05 + 0.4 * max(0.0, share))}
        if cell.chosen:
            look |= {"edgecolor": LIGHT["ink"], "linewidth": 2.6}
        axes.add_patch(Rectangle(corner, 0.94, 0.92, zorder=3 if cell.chosen else 2, **look))
        box = {"facecolor": LIGHT["paper"], "edgecolor": "none", "pad": 1.5} if point is None else None
        head = "INVALID" if point is None else short(point.y)
        under = [_interval(point), line(cell.beside)]
        middle: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 4, "bbox": box}
        axes.text(cell.column, cell.row - 0.2, head, weight="bold", fontsize=8.5, **middle)
        axes.text(cell.column, cell.row + 0.2, "\n".join(filter(None, under)), fontsize=6.8, linespacing=1.25, **middle)
    axes.set(xlim=(-0.55, len(heat.columns) - 0.45), ylim=(len(heat.rows) - 0.45, -0.55))
    axes.set_xticks(range(len(heat.columns)), [line(one) for one in heat.columns])
    axes.set_yticks(range(len(heat.rows)), [line(one) for one in heat.rows])
    axes.tick_params(length=0)
    axes.set_xlabel(f"{line(heat.x)}\n{line(heat.note)}" if heat.note else line(heat.x))
    axes.set_ylabel(line(heat.y))


def _interval(point: Point | None) -> str:
    if point is None or point.exact:
        return ""
    if point.low is None or point.high is None:
        return "interval unknown"
    half = (point.high - point.low) / 2
    return f"± {short(half if half > 1e-9 * abs(point.y) else 0)}"


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def _wrapped(text: str, width: int) -> str:
    return "\n".join(textwrap.wrap(text, width)[:6])
