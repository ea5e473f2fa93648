"""The studio: a local web page on which one understands a parallel robot by playing with it.

Model (`session`, `coordinates`, `numbers`, `recording`, `vibration`), drawing (`frames`, `shapes`, `scene`), page (`panels_...`,
`tables`), life (`loop`, `jobs`, `guard`, `app`). The model knows nothing of the page.
"""
