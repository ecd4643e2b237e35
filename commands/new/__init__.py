"""`batchproof new`: skeletons of what people add to the project, or build on it."""
