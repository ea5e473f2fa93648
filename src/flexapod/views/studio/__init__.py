"""The studio: a local web page for exploring a parallel robot interactively.

Model (`session`, `moved_coordinates`, `numbers`, `recording`, `vibration`), drawing (`frames`, `shapes`, `scene`), page
(`panels_...`, `tables`), life (`loop`, `jobs`, `guard`, `app`). The model knows nothing of the page.
"""
