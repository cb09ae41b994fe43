# The image model of the demo's size: handwritten digits of 8 × 8 pixels
glasshead train digits --model vit --attention tanhmax --epochs 2 --out runs/digits
glasshead explain runs/digits digit.png --out digit.html
glasshead explain runs/digits digit.png --method erasure-neutral-colour --format json
# What every head looks at
glasshead heads runs/digits digits --text digit.png --out heads.html
# Ten images, 2 × 2 blocks of patches as units
glasshead audit runs/digits digits --limit 10 --blocks 2 --audits agreement,faithfulness --out audits/digits
