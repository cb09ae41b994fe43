glasshead cite runs/librarian "Our lighthouse keeper is" --context notes/ --tokens 2
glasshead cite runs/librarian "Our lighthouse keeper is" --context notes/ --answer "called Anna." --out cited.html
glasshead cite runs/librarian "The ferry to" --context notes/ferry.txt --context notes/museum.txt --tokens 3 --out cited.md
