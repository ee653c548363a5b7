"""What the papers have and the page of reproductions has not, and why."""

from __future__ import annotations

from typing import Final

BUILT: Final = "not built"
"""What would have to be built first. Where something here comes close to it, the row says so."""
LEFT_OUT: Final[tuple[tuple[str, str, str], ...]] = (
    ("SPLU", "Figures 1 to 3 and 6", "drawings and tables of notions, nothing measured"),
    (
        "SPLU",
        "6.2.1: age in intervals of 8 %, error 0.01",
        "the census here has no age; not tried on a stand-in",
    ),
    (
        "SPLU",
        "6.5: within 10 s for 500,000 rows, 16 and 325 rounds",
        "times and rounds are not noted by the script",
    ),
    ("SPLU", "general p and q", f"{BUILT}: SPLU-Gen has p = q = 1 / gamma, the one case that the paper uses"),
    (
        "SPLU",
        "Cormode's classifier, empirical privacy",
        "the measure `inference` is near, and not the same attack",
    ),
    ("SPLU", "foreground attack", f"{BUILT}; deFinetti's is (`definetti`, erratum 53)"),
    ("SPLU", "t-closeness with t = exp(epsilon)", f"{BUILT}; it is named there and used nowhere"),
    ("iDP", "Figures 1 and 2", "drawings, nothing measured"),
    (
        "RoD",
        "JTree by the sparse vector technique",
        f"{BUILT}; `synth-mst` and `synth-aim` stand in its place",
    ),
    ("RoD", "PriView, DPCube, DPWavelet, DP-GAN, PATE-GAN", f"{BUILT}; named there as related work"),
    (
        "RoD",
        "choosing epsilon by Lee and Clifton, Hsu, Naldi, Tsou",
        f"{BUILT} as curves; [Choosing epsilon](choosing-epsilon.md) has what an attacker may believe",
    ),
    ("RoD", "Figures 1 to 8 point by point", "the paper prints curves without numbers, and no parameters"),
    ("Thesis, 2", "positive-disclosure recursive (c, l)-diversity and its kin", f"{BUILT}"),
    ("Thesis, 2", "attack by homogeneity", "no measure of that name: it is l = 1 of the report of classes"),
    ("Thesis, 2", "division by kd-tree and R-tree", "Mondrian cuts in the same way; an R-tree is not built"),
    ("Thesis, 2", "differential privacy on Fourier coefficients", f"{BUILT}"),
    (
        "Thesis, 3",
        "(beta, epsilon, delta)-privacy by safe k-anonymity and sampling",
        f"{BUILT}; `amplify_by_sampling` has the sampling alone",
    ),
    ("Thesis, 3", "insensitive microaggregation", f"{BUILT}"),
    (
        "Thesis, 3",
        "K-security, the sanitizer of [SB16]",
        f"{BUILT}; chapter 6 compares itself with both in words",
    ),
    (
        "Thesis, 4",
        "22 of 30 cells of Tables 4.5 and 4.6 in the run shown",
        "corners alone, for time; the script has all",
    ),
    (
        "Thesis, 4",
        "Table 4.6 with categories generalized before they are perturbed",
        "no script has it (erratum 49)",
    ),
    ("Thesis, 5", "web access logs", "not public (erratum 17); a dense log such as msweb was not tried"),
    (
        "Thesis, 5",
        "Tables 5.10 to 5.14: precision, recall and F",
        "ratios alone are shown; users tested are less active than those that models learn from",
    ),
    ("Thesis, 6", "early stop of 6.2.3", f"{BUILT}; it saves time alone"),
    ("Thesis, 6", "tweets, folders that grow", f"{BUILT}: `duetto sanitize` counts each run by itself"),
    (
        "Thesis, 7",
        "the p-value as a private query (7.1.3)",
        f"{BUILT}; t alone is released",
    ),
    ("Thesis, 7", "the locally private t-test of section 7.2", f"{BUILT}; Figure 7.1 has no such curve"),
    (
        "Thesis, 8",
        "8.1.3: almost constant time in parallel",
        "never measured on more than 2 cores",
    ),
    (
        "Thesis, 8",
        "recommender systems, private training of [MZ17]",
        f"{BUILT}; joint models are other protocols",
    ),
)
"""Source, what, and why."""
