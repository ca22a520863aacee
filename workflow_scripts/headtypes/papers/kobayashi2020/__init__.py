"""Kobayashi et al., "Attention is Not Only a Weight" (EMNLP 2020), as far as its abstract goes."""
