"""LLVM backend: text of functions over four samples, its compilation, and the calls."""
