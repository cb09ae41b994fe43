glasshead explain my-vlm photo.png "what colour is at the top right ?" --answer " blue" --method erasure-mean-embedding
glasshead explain my-vlm photo.png "what colour is at the bottom left ?" --next --method erasure-mean-embedding --out answer.html
