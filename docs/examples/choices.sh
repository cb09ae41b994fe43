glasshead explain my-chooser "anna wants to wear something" --choice "a coat" --choice "an apple" --choice "a letter" --method erasure-mean-embedding
glasshead audit my-chooser test_choices.jsonl --limit 40 --out audits/my-chooser
