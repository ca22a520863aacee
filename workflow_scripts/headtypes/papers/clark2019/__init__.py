"""Clark et al., "What Does BERT Look At? An Analysis of BERT's Attention" (BlackboxNLP 2019)."""
