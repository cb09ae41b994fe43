"""Equations of docstrings, which are plain text, as TeX."""

import re

SIGNS = {
    "φ": r"\varphi ",
    "σ": r"\sigma ",
    "π": r"\pi ",
    "Σ": r"\sum",
    "·": r"\cdot ",
    "−": "-",
}
WORDS = re.compile(r"(?<![A-Za-z\\])(output|clip|cos|max|min|ReLU)(?![A-Za-z])")
# Where the equation of a docstring ends and its explanation begins.
END = re.compile(r" \((?=[A-Z]|eq)|[;:] | for |, (?:with|whatever|which) |\.?$")


def equation_of(docstring: str) -> str:
    """The equation with which a docstring begins."""
    line = " ".join(docstring.strip().split("\n\n")[0].split())
    return line[: END.search(line).start()]


def tex(equation: str) -> str:
    """The same in TeX: `e^{s_i} / Σ_k σ(s_k)`, `√d`, `|i − j|`."""
    equation = WORDS.sub(r"\\operatorname{\1}", equation)
    equation = re.sub(r"_([a-z]{2,})", r"_{\1}", equation)
    equation = re.sub(r"√(\w+)", r"\\sqrt{\1}", equation)
    equation = re.sub(r"\|([^|]+)\|", r"\\lvert \1 \\rvert ", equation)
    for sign, command in SIGNS.items():
        equation = equation.replace(sign, command)
    return equation.replace(", ", r",\; ")
