# The next token, by a decoder with TanhMax attention.
glasshead train my_reviews.csv --model gpt2 --tokenizer bpe --attention tanhmax --vocabulary-size 400 \
    --max-length 32 --epochs 2 --set num_hidden_layers=2 --set hidden_size=64 --watch dynamics --watch-every 8 --out runs/lm
glasshead dynamics runs/lm --out lm-dynamics.html
glasshead explain runs/lm "a charming" --next --method erasure-delete --out next.html
# Hidden tokens, by an encoder.
glasshead train my_reviews.csv --model bert --objective masked --attention sigsoftmax --vocabulary-size 400 \
    --max-length 32 --epochs 2 --set num_hidden_layers=2 --set hidden_size=64 --out runs/mlm
