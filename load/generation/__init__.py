"""Load for engines that generate text: requests and their times, the loop that steps an engine, and samples."""
