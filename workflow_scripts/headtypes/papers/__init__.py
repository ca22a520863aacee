"""Papers that are reproduced, a folder each: what they published and claim, their tables and figures."""
