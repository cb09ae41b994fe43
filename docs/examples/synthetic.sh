# Four classes instead of two, and a tenth of the class words misplaced.
glasshead train synthetic --option instances=400 --option classes=4 --option noise=0.1 --out runs/genres
glasshead train synthetic-noisy --option instances=400 --attention tanhmax --out runs/noisy
