"""The public verbs, one file each: what `flexapod.<verb>` calls."""
