"""Charts of a bench: pure functions from what it wrote to charts as data, and one module that draws any chart.

`catalogue.charts` returns the charts of a bench. They are data (`chart.py`), so that a test reads them without drawing them.
`drawing.py` needs matplotlib, which is the extra `plots`; nothing else here does.
"""
