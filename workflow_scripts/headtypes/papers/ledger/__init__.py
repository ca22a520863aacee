"""The ledger: every claim of every paper in every model, over models, and beside an earlier ledger."""
