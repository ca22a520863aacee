"""Coreference: documents with mentions of entities, read from CoNLL-U or CoNLL-2012."""
