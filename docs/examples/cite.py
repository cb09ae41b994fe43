import glasshead

# As LangChain's retrievers return documents (as dicts), and LlamaIndex' retrievers nodes with a score.
found = [
    {
        "page_content": "The ferry to Oslo leaves at noon.",
        "metadata": {"source": "https://example.org/ferry"},
    },
    {"page_content": "Our lighthouse keeper is called Anna.", "metadata": {"title": "keeper.txt"}},
    {
        "node": {"text": "A museum about whales opened in Bergen.", "metadata": {"file_name": "museum.txt"}},
        "score": 0.4,
    },
]
cited = glasshead.cite("runs/librarian", found, "Our lighthouse keeper is", answer="called Anna.")
print(*cited.whole.says, sep="\n")
for one in cited.whole.sources:
    name = cited.name_of(one.passage)
    print(f"{name}: effect {one.effect:.1f}, without it log p falls by {one.removal:.1f} nats")
again = [*found, {"text": "Our lighthouse keeper is called Anna."}]
print(
    glasshead.cite("runs/librarian", again, "Our lighthouse keeper is", answer="called Anna.").whole.says[-1]
)
cited.save("sources.html")
