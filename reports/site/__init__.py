"""A static site of many reports: the matrix, a page for each stack and each rule, and badges."""
