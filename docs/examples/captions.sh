glasshead explain my-clip "pictures/a green square/1.png" --choice "a red square" --choice "a green square" --choice "a blue square" --choice nothing --method erasure-neutral-colour
# One caption: the parts of the image, and the words of the caption
glasshead explain my-clip "pictures/a green square/1.png" "This is a photo of a green square." --method gradient
# The names of the folders are the captions
glasshead audit my-clip pictures --audits agreement,faithfulness --blocks 3 --out audits/my-clip
