import glasshead

audit = glasshead.audit_sources("runs/librarian", "questions.jsonl")
print(*audit.conclusion, sep="\n")
print("leaders:", ", ".join(audit.leaders("top-1")))
place = audit.finding("place.moved").finding
print(f"place: {place.estimate:.2f} nats, others shuffled {place.null['others shuffled']:.2f}")
