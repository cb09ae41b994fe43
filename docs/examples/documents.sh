glasshead cite runs/librarian "Our lighthouse keeper is" --context notes/ --tokens 2
glasshead cite runs/librarian "Our lighthouse keeper is" --context notes/ --context notes/keeper.txt --tokens 2
glasshead cite runs/librarian --questions questions.jsonl --out documents.html
