glasshead explain my-vlm photo.png "what colour is at the top right ?" --answer " blue" --method erasure-mean-embedding
# The photo without each part, instead of the token
glasshead explain my-vlm photo.png "what colour is at the top right ?" --answer " blue" --method erasure-neutral-colour
glasshead explain my-vlm photo.png "what colour is at the bottom left ?" --next --method erasure-mean-embedding --out answer.html
glasshead generate my-vlm photo.png "what colour is at the top right ?" --tokens 1 --out written.html
# Several images, then their text
glasshead explain my-vlm photo.png corners-0.png "what colour is at the top right ?" --next
glasshead audit my-vlm questions.csv --audits agreement,faithfulness --out audits/my-vlm
# Several images in a row
glasshead audit my-vlm pairs.jsonl --audits agreement --out audits/pairs
glasshead heads my-vlm questions.csv --out heads.html
