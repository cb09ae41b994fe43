# The page of the README with lines of a small model: a folder of plain text (a million characters of Shakespeare), seven minutes on two cores.
glasshead train tinyshakespeare --model gpt2 --tokenizer bpe --vocabulary-size 2000 --epochs 12 --out runs/shakespeare
glasshead generate runs/shakespeare "ROMEO:" --strategy nucleus=0.9 --seed 7 --tokens 16 --out written.html
