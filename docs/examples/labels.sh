glasshead explain my-labels "costly soup at the window with our friends" --target price --method erasure-delete
glasshead explain my-labels "costly soup at the window with our friends" --target food --method erasure-delete
glasshead audit my-labels test_labels.jsonl --by question --limit 60 --out audits/my-labels
