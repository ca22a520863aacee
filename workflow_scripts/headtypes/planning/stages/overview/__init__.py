"""Rules of what brings the results of all analyses together."""
