# Tables and figures with their entries in Snakemake's report.


def entry(path, caption, category, content, subcategory=None, **labels):
    """Return an output file with its entry in Snakemake's report, which names the function that computed the file.

    caption: name of a file in report/, without ending. content: phrase that says what the file shows.
    category, subcategory: headings under which the report lists the file.
    labels: {column of the report: text} of further columns.
    """

    def all_labels(wildcards, params):
        return {**labels, "content": content, "computed by": f"headtypes.{params.calls.replace(':', '.')}"}

    caption = f"../report/{caption}.rst"
    return report(path, caption=caption, category=category, subcategory=subcategory, labels=all_labels)


def figure(path, caption, name, content, category="Figures", suffix="", by="partition"):
    """Return {name of output: file} of a figure: its PDF, and its PNG with an entry in Snakemake's report.

    path: path without ending, with wildcards; name: number in the report; suffix: ending of the outputs' names; by:
        label of the report's column that holds the last wildcard of `path`. Other arguments are those of `entry`.
    """
    *_, of = re.findall(r"\{\w+\}", path)
    subcategory = "{model}" if "{model}" in path else "all models"
    png = entry(f"{path}.png", caption, category, content, subcategory, figure=name, **{by: of})
    return {f"pdf{suffix}": f"{path}.pdf", f"png{suffix}": png}


def figure_of_partition(number, content):
    """Return {name of output: file} of a figure of Guan et al. that shows one partition."""
    path = f"results/guan2020/{{model}}/{{partition}}/figure{number}"
    return figure(path, f"figure{number}", number, content, suffix=f"_{number}")


def figure_of_clark(number, content, suffix=""):
    """Return {name of output: file} of a figure of Clark et al."""
    path = f"results/clark2019/{{model}}/{{task}}/figure{number}"
    return figure(path, f"clark_figure{number}", number, content, "Figures of Clark et al.", suffix, by="task")


def table(path, caption, name, content, category="Tables", further=(), suffix=""):
    """Return {name of output: file} of a table: CSV, Markdown, and HTML with an entry in Snakemake's report.

    path, name, suffix: as in `figure`; further: endings of further files, such as tex. Others are as in `entry`.
    """
    html = entry(f"{path}.html", caption, category, content, table=name)
    outputs = {"csv": f"{path}.csv", "markdown": f"{path}.md", "html": html}
    outputs |= {ending.partition(".")[0]: f"{path}.{ending}" for ending in further}
    return {f"{name}{suffix}": file for name, file in outputs.items()}


def table_of_guan(number, content, further, suffix=""):
    """Return {name of output: file} of a table of Guan et al.; further: endings of further files, such as tex."""
    path = f"results/guan2020/table{number}"
    return table(path, f"table{number}", number, content, further=further, suffix=suffix)


def table_of_clark(number, content):
    """Return {name of output: file} of a table of Clark et al., also as LaTeX."""
    path = f"results/clark2019/table{number}"
    return table(path, f"clark_table{number}", number, content, "Tables of Clark et al.", ["tex"])


# {rule: {name of output: file}}: outputs of rules of stages, beside the results that have a name.
REPORTED = {
    "cluster_heads": figure(
        "results/stability/{model}/{partition}", "stability", "stability", "how many types, and how stable"
    ),
    "plot_controls": figure(
        "results/controls/{model}/{partition}", "controls", "controls", "types beside random heads"
    ),
    "tabulate_types": table_of_guan("1", "stability and shares of the types", ["tex"]),
    "tabulate_ablations": {
        **table_of_guan("2", "types left out or made uniform", ["tex", "all.csv"], "_2"),
        **table_of_guan("3", "attention within and between sentences", ["tex", "all.csv"], "_3"),
    },
    "tabulate_readings": table(
        "results/guan2020/readings", "readings", "readings", "the paper's claims under other readings"
    ),
    "tabulate_relations": table_of_clark("1", "dependency relations"),
    "tabulate_coreference": table_of_clark("2", "coreference"),
    "tabulate_probes": table_of_clark("3", "probes"),
}
