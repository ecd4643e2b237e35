"""The reference batcher compared with other batchers of its kind."""
