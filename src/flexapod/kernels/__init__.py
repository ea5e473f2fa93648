"""Kernels: programs in CasADi expressions become fast code (LLVM), arrays (NumPy) or portable C."""
