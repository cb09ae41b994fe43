glasshead explain my-tagger "we saw aunt sydney again in florence" --method erasure-mean-embedding
glasshead explain my-tagger "we saw aunt sydney again in florence" --method erasure-mean-embedding --at sydney --target PLACE
glasshead audit my-tagger test_tags.jsonl --limit 60 --out audits/my-tagger
