"""What planning knows of the rules that prepare models and data, and of those that bring results together.

The stages of analyses and papers stand in their folders, and `registry` lists all.
"""
