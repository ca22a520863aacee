"""Every partition of a model beside every analysis of it, and as many heads drawn at random."""
