"""Load for engines that generate text: who asks for how many tokens and when, the loop that steps an engine, and samples."""
