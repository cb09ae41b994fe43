"""How a text becomes tokens, with the place of each in the original text."""

from glasshead.data import train_tokenizer

text = "It's self-indulgent — I don't like it!!! 3.5/10"
tokenizer = train_tokenizer([text], min_freq=1)
encoded = tokenizer(text, return_offsets_mapping=True)
print(tokenizer.convert_ids_to_tokens(encoded["input_ids"]))
print([text[start:end] for start, end in encoded["offset_mapping"]])
