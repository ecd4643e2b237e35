"""Reports as HTML: one file each, which needs no network and opens in any browser."""
