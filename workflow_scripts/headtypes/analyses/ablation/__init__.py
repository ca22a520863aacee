"""Ablation: what a model answers while some of its heads are removed or changed, and which heads matter."""
