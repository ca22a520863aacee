"""The ledger as a page: how often each claim holds, and where."""
