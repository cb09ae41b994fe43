glasshead train synthetic --scale 10 --optimizer sgd --epochs 6 --watch dynamics --watch-every 8 --out runs/dyn
glasshead dynamics runs/dyn --tokens superb,dreary,tourist --out dynamics.html
glasshead plot dynamics runs/dyn --what ledger --token superb --out ledger.png
