glasshead demo --out my-demo
