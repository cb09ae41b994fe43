glasshead explain my-reader "where did bruno fly" --pair "bruno flew to oslo on friday" --method erasure-mean-embedding
glasshead explain my-reader "where did bruno fly" --pair "bruno flew to oslo on friday" --at friday --target start
glasshead audit my-reader test_questions.jsonl --limit 60 --out audits/my-reader
