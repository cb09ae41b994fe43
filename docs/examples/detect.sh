glasshead explain my-detector square.png --method erasure-neutral-colour --out explained.html
