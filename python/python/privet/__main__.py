"""``python -m privet``: the command line, the same program as ``privet``."""

import sys

from privet._privet import command_line


def main() -> int:
    """Do what the arguments say; return the exit code."""
    return command_line(["privet", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
