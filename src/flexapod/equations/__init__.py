"""The mechanics, one algorithm per file, as CasADi expressions collected in kernel programs."""
