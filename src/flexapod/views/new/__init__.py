"""Robot files from a few sizes, for `flexapod new`: `robot_file` knows the kinds, the others write the files of one family."""
