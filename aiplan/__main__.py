"""`python -m aiplan`."""

import sys

from aiplan.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
