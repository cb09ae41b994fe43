glasshead audit runs/tanhmax my_reviews.csv --out audits/decided --until-decided perturbation.uniform.share
