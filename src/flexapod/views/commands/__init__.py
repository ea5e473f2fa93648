"""Sub-commands of `flexapod`, one group per file; heavy libraries are imported when a command runs."""
