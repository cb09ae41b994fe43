glasshead explain my-segmenter scenes/scene1.png --target "house by night" --method erasure-neutral-colour
glasshead audit my-segmenter scenes/scenes.csv --method gradient-l2 --audits performance,faithfulness --out audits/my-segmenter
