"""What is said of each kind of value, as a document: one file for each."""
