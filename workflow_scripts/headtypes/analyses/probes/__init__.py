"""Probes: parsers that read the attention of all heads, and what they are compared with (section 5)."""
