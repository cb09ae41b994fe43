"""Pages: one HTML file each, without network."""
