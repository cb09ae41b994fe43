glasshead explain my-reader "where does bruno live" --pair "anna lives in rome and bruno lives in oslo" --method erasure-mean-embedding
glasshead explain my-reader "where does bruno live" --pair "anna lives in rome and bruno lives in oslo" --at rome --target start
glasshead audit my-reader test_questions.jsonl --limit 60 --out audits/my-reader
