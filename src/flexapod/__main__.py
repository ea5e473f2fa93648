"""`python -m flexapod`: the command line."""

from flexapod.views.cli import main

main()
