"""The reference batcher beside other batchers of its kind."""
