"""Types of attention heads: distance features, clustering, stability and ablation."""
