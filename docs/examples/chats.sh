glasshead generate my-chatty --file chat.json --tokens 1
glasshead explain my-chatty --file chat.json --unit message --answer bonjour --against hallo --method erasure-unknown-token
glasshead explain my-chatty --file chat.json --segment "in french" --answer bonjour --method gradient
glasshead explain my-chatty "<|system|><<answer in german>><|end|><|user|>please <<say hello>><|end|><|assistant|>" \
  --unit segment --next hallo --method erasure-unknown-token
glasshead audit my-chatty chats.jsonl --audits agreement --method gradient-l2 --out audits/chats
