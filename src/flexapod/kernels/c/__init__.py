"""C export: portable C99 with header, self-test and a page with instructions."""
