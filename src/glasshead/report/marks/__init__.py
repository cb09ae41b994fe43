"""What several plots are made of: curves with bands, points with names, distributions in rows."""
