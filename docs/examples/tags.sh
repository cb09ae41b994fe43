glasshead explain my-tagger "our friends saw that sydney laughed again" --method erasure-mean-embedding
glasshead explain my-tagger "our friends saw that sydney laughed again" --method erasure-mean-embedding --at sydney --target PLACE
glasshead audit my-tagger test_tags.jsonl --limit 60 --out audits/my-tagger
