"""Pages: reports on a robot, comparisons, studies of designs, identification and the five papers, as HTML and PDF."""
