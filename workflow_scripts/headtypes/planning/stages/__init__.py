"""What planning knows of each rule: the part of the configuration that it depends on, and what its jobs compute.

One module for each file of rules (those of `language` in a folder), and `data` for what two of them share. A value that
a script uses and that its spec leaves out is a defect: it can change without the rule running again. What a rule reads
from an input file (the revision of a model, say) reaches it through that file instead.

Some seeds bear a name that a rule had before it was renamed (`draw_samples`): another name would draw other samples.
"""
