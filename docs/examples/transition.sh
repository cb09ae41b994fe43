# Where does attention turn from places to meaning? Theory and trainings of a solvable model; minutes with more of everything.
glasshead plot transition --alphas 2 --d 50 --seeds 2 --out transition.svg
