"""Two targets side by side: the same load on both, block by block, until it is decided which of them is slower."""
