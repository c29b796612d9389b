"""Write docs/command-line.md: every command with what it really answers; --check fails if the page is out of date.

The answers are those of this version on small domains. Times are left out, and numbers shown to five digits, so that
the page is the same on every machine.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import io
import os
import re
import shlex
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "command-line.md"

HEAD = """\
# Command line

`factormech` answers one question without a workflow; `factormech COMMAND --help` lists the options. This page is made
by `python tools/command_line_page.py`: every answer is a real one, without times and with five digits.

A workload is a registered name with `--domain-size`; or a CSV, NPY, Matrix Market or HDF5 file with a row for each
query and a column for each user type; or, with `--config mine.yaml`, a union, product or file that a configuration
defines. `--seed` (the value on a study's axis `seed`) and `--root-seed` (the `seed` of a configuration) fix random
draws: with equal seeds, the command line and the pipeline have equal results.

Numbers may be written as `100000` or `1e5`, and as `0.01` or `1%`; norms as `gamma-2` or `gamma2`; `optimise` as
`optimize`. [Python](python.md) has the same words.

* `--json` answers with one object; its keys are [below](#json). A number that does not exist is null, and `reason` says
  why.
* A command that takes over two seconds shows a bar on standard error: the share that is done, the time left as the
  benchmark of costs predicts it, and the gap that the solver has reached. Where standard error is no terminal, it
  writes a line every ten seconds.
* A file is written whole or not at all; Ctrl-C leaves none.
* `--plugin mine.py` makes the workloads and mechanisms of a file known ([adding things](adding.md)); a configuration
  names its own.
* `factormech completion bash` (`zsh`, `fish`) prints a script with which Tab completes commands, options and names.
* BLAS runs on one thread unless `OMP_NUM_THREADS` says otherwise, as in the workflow: equal questions have equal
  answers.

## CSV files

A CSV file (`.csv` or `.tsv`) may have a header with the names of the user types, and names of the queries in its first
column; both are kept to the answers. It may use commas, semicolons or tabs, quotes, UTF-8, UTF-16 or Latin-1, with or
without a byte order mark, and the line ends of every system. Values are read strictly: numbers with a decimal point. A
first line of numbers and texts is refused, unless its first cell is empty or `query`: a query that is taken for a
header would be lost. A first line of numbers alone is a query; it is refused where it looks like a header, such as
`18,30,45` above zeros and ones. Data are one row, one column, or two columns with a header such as `age,count`.

## Exit codes

| exit code | meaning |
| --- | --- |
| 0 | answered |
| 1 | a wrong value or file: one line on standard error names it, the rule and the remedy |
| 2 | wrong usage |
| 3 | answered, but not certified |
| 130 | interrupted |

Code 3 says that the gap is above `--gap-limit` (5 % for a strategy, 1 % for a norm), or that something which
`strategy verify` checks does not hold. `strategy optimise` writes its file all the same: it is private and unbiased.
"""

# Headings, words, and command lines; they run one after the other in one folder.
SECTIONS: list[tuple[str, str, list[str]]] = [
    ("Workloads", "", ["workload list", "workload describe prefix --domain-size 1024"]),
    (
        "Strategies",
        "`optimise` finds the strategy matrix of least variance, on average or for the worst user type, and a lower"
        " bound on every unbiased linear ε-LDP strategy, both on the objective L of McKenna et al. Up to 16 types the "
        "bound on the average is proved in whole numbers. A limit on the outputs (`--rows`) may leave a gap, because "
        "the bound holds for any number of outputs.",
        [
            "strategy optimise prefix --domain-size 16 --epsilon 1 --out Q.h5",
            "strategy optimise prefix --domain-size 8 --epsilon 1 --objective worst",
            "strategy optimise prefix --domain-size 8 --epsilon 1 --rows 9",
        ],
    ),
    (
        "Verify",
        "`verify` reads such a file, or one of the workflow's `results/strategies`, and trusts nothing in it:"
        " privacy is checked in rational arithmetic on the very floats that are sampled from (strategies "
        "without a matrix: with every rounding outward), the objective is computed again, and so is the proof"
        " of the bound. For the worst case up to 16 types the bound is proved anew, under the file's prior. Where the "
        "file's own bound is above the proved one, both are shown, with the reason. `--workload` names the queries "
        "where the file does not hold them and its workload is not a registered one. `export` writes what a "
        "collection needs: Q, and the reconstruction V that the variances are of. A strategy of least worst-case "
        "variance has a V of its own: the textbook's W X⁺QᵀD⁻¹ of the same Q has a larger worst variance.",
        [
            "strategy verify Q.h5",
            "strategy export Q.h5 Q.csv",
            "strategy optimise ages.csv --epsilon 1 --objective worst --out ages.h5",
            "strategy verify ages.h5",
            "strategy export ages.h5 ages-Q.csv",
        ],
    ),
    (
        "Compare",
        "Exact variances of every mechanism. `optimised` is solved for the worst case; users are worst "
        "variance ÷ (queries · α), and so is the bound. A mechanism with δ > 0 is beyond it.",
        ["strategy compare prefix --domain-size 16 --epsilon 1"],
    ),
    (
        "Norms",
        "KIND is `gamma-2` (with `--alpha`: its approximate norm), `gamma-f`, `gamma-p` with `--p`, "
        "`gamma-2-shifted`, `gamma-2-difference`, `eta` or `margin-complexity`. The last three read the "
        "queries, 0/1 or ±1, as labels. Both ends hold in exact arithmetic.\n\n"
        "`--attributes D` asks for a class on sets of D attributes, whose 2^D × 2^D matrix is never made: "
        "`conjunctions`, `disjunctions`, `majorities`, `threshold-counts` and `parities` (labels ±1) and the 0/1 "
        "`conjunctions-{w}`, to 30 attributes; `{w}-way-marginals`, to 65536. At 24 attributes a norm takes some 10 "
        "seconds, `eta` some 40.",
        [
            "norm gamma-2 prefix --domain-size 1024",
            "norm gamma-p prefix --domain-size 16 --p 4",
            "norm gamma-2-shifted prefix --domain-size 16 --alpha 0.1",
            "norm eta prefix --domain-size 16 --alpha 0.1 --json",
            "norm margin conjunctions --attributes 12",
            "norm gamma-2 3-way-marginals --attributes 4096 --alpha 0.1",
        ],
    ),
    (
        "Plan",
        "How many users a target error needs. For `--metric mse` (mean squared error of a query, the default;"
        " `--rmse 1%` is its root, one percentage point) the numbers are exact, for the worst data; the standard "
        "error of each query is for the data that are worst for it."
        " For `linf` (expected largest error, for every "
        "distribution of the users) `users` are *proved* to be enough, `predicted` is what the central limit "
        "says, and the bound holds for every non-interactive mechanism; semidefinite programs of more than "
        "600 queries and types are not started, which is said.",
        [
            "plan histogram --domain-size 16 --epsilon 1 --rmse 1%",
            "plan ages.csv --epsilon 1 --rmse 2%",
            "plan prefix --domain-size 8 --epsilon 1 --alpha 0.05 --metric linf",
        ],
    ),
    (
        "Plans for classes",
        "How many users learn a class of concepts to an excess loss of `--alpha`, or with `--refute` refute it; with "
        "`--realizable` where some concept loses nothing. [Plans for classes](class-plans.md) has the tasks, the "
        "protocols with their constants, and what proves each bound. `conjunctions`, `disjunctions`, `majorities`, "
        "`threshold-counts` and `parities` go to 30 attributes, other classes to 256 concepts on 64 points.",
        [
            "plan --class conjunctions --attributes 10 --epsilon 1 --alpha 0.05",
            "plan --class conjunctions --attributes 10 --epsilon 1 --alpha 0.05 --refute --realizable",
            "plan --class thresholds --domain-size 16 --epsilon 1 --alpha 0.1 --refute --json",
            "plan --class decision-stumps --attributes 10 --epsilon 1 --alpha 0.1",
        ],
    ),
    (
        "Collect",
        "`--data` is one row or column with the number of users of each type, or a histogram such as `age,count`; "
        "with `--users` that number is "
        "drawn from its shares. Standard errors are exact for these users. `--consistent` adds the answers of"
        " the nearest data without negative counts and with this total: no longer unbiased, and never further"
        " off.",
        [
            "collect simulate ages.h5 --data people.csv --users 5500 --seed 1",
            "collect simulate Q.h5 --data data.csv --users 20000 --seed 1 --consistent",
        ],
    ),
    (
        "Studies",
        "These commands read `config.yaml` of the folder that they run in (`--config`, `--quick`). `results list` says "
        "how far each study is made, `results show STUDY` which files it has, and `results show FILE` what a file is "
        "and which studies it is for. After a run,"
        " `factormech trace figures/NAME.svg --point mechanism=hadamard --point epsilon=1.0` shows where a point"
        " comes from: its row, the part that it was computed in, the strategies and bounds behind it, and the"
        " code, with the file of each.",
        [
            "study list 'figure 1'",
            "study show mckenna2020-figure-1 --quick",
            "results list --quick",
            "results show simulated-collection --quick",
        ],
    ),
    ("Completion", "Tab completes commands, options, and the names of workloads and studies.", ["completion bash"]),
    (
        "Papers",
        "`paper` reads the finished table of a study and solves nothing. `--width`, `--size`, `--font`, `--monochrome`,"
        " `--panels` and `--mechanisms` say how the figure is printed and what it shows. Every number of the caption "
        "and of the table's grid is a macro of `…-numbers.tex`; `references.bib` has what the study is based on. "
        "The example in examples/paper is compiled by the tests.",
        ["paper gaussian-calibration --width 84mm --size 7 --formats pdf,svg"],
    ),
    (
        "Refusals",
        "",
        [
            "plan prefx --domain-size 16 --epsilon 1 --alpha 0.01",
            "strategy optimise prefix --domain-size 16 --epsilon 0",
            "workload describe all-marginals --domain-size 12",
            "strategy verify data.csv",
            "norm gamma2",
            "plan total --domain-size 16 --epsilon 1 --rmse 1%",
            "pln prefix --domain-size 16",
            "strategy compare total --domain-size 16 --epsilon 1",
            "norm gama2 prefix --domain-size 16",
        ],
    ),
]
DATA = "120,340,560,910,1300,1620,1480,1210,900,610,420,250,140,80,40,20\n"
AGES = "query;0-17;18-64;65+\nchildren;1;0;0\nbelow 65;1;1;0\nadults;0;1;1\n"
PEOPLE = "age,count\n0-17,1200\n18-64,3400\n65+,900\n"
STUDIES = ("study", "results", "check", "paper")


def session(folder: Path) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Every section with its command lines and what they say."""
    for name, text in {"data.csv": DATA, "ages.csv": AGES, "people.csv": PEOPLE}.items():
        (folder / name).write_text(text)
    for title, words, lines in SECTIONS:
        yield title, words, [(line, said(line)) for line in lines]


def said(line: str) -> str:
    """What a command line writes, without what differs between machines; its exit code, if not 0."""
    from factormech.cli.main import main

    arguments = shlex.split(line)
    if arguments[0] in STUDIES:
        schema = ROOT / "workflow" / "schemas" / "config.schema.yaml"
        arguments += ["--config", str(ROOT / "config.yaml")]
        arguments += ["--schema", str(schema)] if arguments[0] != "paper" else []
        arguments += ["--table", str(ROOT / f"docs/gallery/{arguments[1]}.csv")] if arguments[0] == "paper" else []
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code: object = main(arguments)
        except SystemExit as ended:
            code = ended.code
    waiting = re.compile(r"^[^\n]*: (\[[#.]*\] .*, )?\d+ s(, [^\n]*)?\n", re.MULTILINE)
    text = out.getvalue() + waiting.sub("", err.getvalue())
    return steady(text) + (f"(exit code {code})\n" if code else "")


def steady(text: str) -> str:
    """No times, no more digits than every machine agrees on, none where there is rounding alone."""
    text = re.sub(r"^solved in .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"(?<=from )\S*(?=docs/gallery)", "", text)
    text = re.sub(r'^ "seconds": .*\n', "", text, flags=re.MULTILINE)
    text = re.sub(r"\d\.\d+e-1[0-9]", "1e-15", text)
    text = re.sub(r"(?<![\w.])0\.999999\d+", "0.999999…", text)
    text = re.sub(r"(?<=about )\d+ (s|min)(?= on)", "…", text)
    return re.sub(r"(?<![\w.,])\d+\.\d{4,}(?!…)", lambda found: f"{float(found[0]):.5g}", text)


def wrapped(words: str) -> str:
    """Lines of at most 120 characters."""
    return textwrap.fill(words, 120, break_long_words=False, break_on_hyphens=False)


def page() -> str:
    """The whole page."""
    from factormech.cli.schema import COMMANDS, KEYS

    parts = [HEAD]
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for title, words, answers in session(Path(folder)):
                parts.append(f"## {title}\n\n" + (f"{wrapped(words)}\n" if words else ""))
                parts += [f"```console\n$ factormech {line}\n{text}```\n" for line, text in answers]
        finally:
            os.chdir(before)
    rows = [f"| `{name}` | {key.type}{' or null' if key.null else ''} | {key.meaning} |" for name, key in KEYS.items()]
    parts.append("## JSON\n\n| key | type | meaning |\n| --- | --- | --- |\n" + "\n".join(rows) + "\n")
    keys = [
        f"| `{name}` | {', '.join(f'`{key}`' for key in always)} | {', '.join(f'`{key}`' for key in sometimes)} |"
        for name, (always, sometimes) in COMMANDS.items()
    ]
    parts.append("| command | always | where they apply |\n| --- | --- | --- |\n" + "\n".join(keys) + "\n")
    return "\n".join(parts).replace("\n\n\n", "\n\n")


def comparable(text: str) -> list[str]:
    """The lines of a page as far as every machine agrees on them.

    Of several best strategies a solver ends at one, and which is decided by the last bits of a matrix product: the
    reports of a simulated collection are another draw elsewhere, so their numbers are left out.
    """
    drawn = re.compile(r"(?<=^\$ factormech collect simulate )[^`]*", re.MULTILINE)
    return drawn.sub(lambda found: re.sub(r" *-?\d[\d.,]*", " 0", found[0]), text).splitlines(keepends=True)


def main() -> int:
    """Write the page, or say how it differs."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say whether the page is current")
    made = page()
    if not parser.parse_args().check:
        PAGE.write_text(made, encoding="utf-8")
        return 0
    kept = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    kept_lines, made_lines = comparable(kept), comparable(made)
    sys.stdout.writelines(difflib.unified_diff(kept_lines, made_lines, "docs/command-line.md", "made now"))
    return int(kept_lines != made_lines)


if __name__ == "__main__":
    # The environment of the answers, before NumPy is imported.
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    sys.exit(main())
