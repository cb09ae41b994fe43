"""What a person can type: one file, one group of commands."""
