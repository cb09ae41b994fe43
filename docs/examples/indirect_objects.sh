glasshead train names.txt --model gpt2 --tokenizer word --max-length 32 --epochs 15 --learning-rate 0.003 \
    --set num_hidden_layers=2 --set hidden_size=64 --out runs/names
glasshead patch runs/names names.csv --sites residual --out places.html
glasshead patch runs/names names.csv --out movers.html
