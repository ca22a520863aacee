# What is read of the attention on samples: how far, and at which tokens, each head looks (Guan et al. 2020, section 3),
# maps of a few samples and, on texts, what single heads look at and write (Clark et al. 2019, sections 3 and 6). And how
# much a model's own loss depends on the attention to each kind of token (section 3.2).


rule features:
    input:
        of_each(distances.FEATURES.path, plan.features),


rule gradients:
    input:
        of_each(gradients.TABLE.path, plan.gradients),
