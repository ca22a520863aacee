# Targets to ask for by name, beside single files, `all`, `summary` and the papers.

TARGETS = {
    "features": [distances.FEATURES],
    "gradients": [gradients.TABLE],
    "detectors": [detectors.TABLE],
    "types": [norms.HEADS, types.PARTITION, types.STABILITY],
    "ablation": [*ablation.ABLATION.results, *company.COMPANY.results],
    "syntax": [relations.OFFSETS, relations.HEADS, probes.SCORES, coreference.TABLE],
    "compared_types": [compared_types.TABLE],
    "atlas": [pages.ATLAS],
}

for name, results in TARGETS.items():
    # Several rules may make the same of different tasks.
    paths = {result.path for result in results}

    rule:
        name:
            name
        input:
            files_of(plan, [result for result in RESULTS if result.path in paths]),
