"""Rules of the dependency relations of a treebank and of the coreference of documents."""
