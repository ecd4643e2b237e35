"""Load for engines that generate text, under test."""
