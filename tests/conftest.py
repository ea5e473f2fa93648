"""Makes `support` importable from every test folder."""
