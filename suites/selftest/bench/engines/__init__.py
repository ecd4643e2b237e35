"""Measurements of engines, under test."""
