glasshead lens my-gpt "the keys of the table"
glasshead lens my-gpt "the keys of the table" --target " are" --against " is" --out inside.html
glasshead lens my-gpt "the keys of the table" --target " are" --out inside.json
glasshead lens my-gpt "the keys of the table" --out inside.png
glasshead lens my-gpt "the keys of the table" --target " are" --tuned texts.txt
