"""Settings of this repository only; everything a user needs is in the plugin, `fixtures/plugin.py`."""
