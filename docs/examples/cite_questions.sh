glasshead cite runs/librarian --questions questions.jsonl --out sources.html
