"""The page of the ledger."""
