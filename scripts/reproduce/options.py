"""Says what options a program has, and refuses others, without what the program imports: PROGRAM [OPTION]...

It reads calls of `add_argument` in the program's text. Ends with 0 where the program may go on, 3 where its
help was printed, 2 where an option is none of its own.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

HELPED = 3


def find_options(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The options of a program and what they are for; a value that the program computes is left out."""
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        if call.func.attr == "add_argument" and isinstance(call.args[0], ast.Constant):
            said = next((one.value for one in call.keywords if one.arg == "help"), ast.Constant(""))
            parts = said.values if isinstance(said, ast.JoinedStr) else [said]
            text = "".join(str(one.value) if isinstance(one, ast.Constant) else "..." for one in parts)
            yield str(call.args[0].value), text


def main(program: Path, words: list[str]) -> int:
    """Print the help, or what is wrong with the words; what to end with."""
    tree = ast.parse(program.read_text(encoding="utf-8"))
    known = dict(find_options(tree))
    if {"-h", "--help"} & {*words}:
        print((ast.get_docstring(tree) or "").partition("\n")[0], "\n\noptions:")
        for name, text in known.items():
            print(f"  {name:12} {text}".rstrip())
        return HELPED
    given = [word.partition("=")[0] for word in words if word.startswith("--")]
    wrong = [word for word in given if not any(name.startswith(word) for name in known)]
    if wrong:
        print(f"{wrong[0]} is no option here; there are: {', '.join(known)}.", file=sys.stderr)
    return 2 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
