glasshead explain my-labels "costly soup at the window with our friends" --method erasure-delete --target-fn log-odds
glasshead explain my-labels "costly soup at the window with our friends" --method erasure-delete --target price
glasshead audit my-labels test_labels.jsonl --by question --limit 60 --out labels-audit
