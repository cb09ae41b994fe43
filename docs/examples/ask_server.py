"""Start the page's server, ask it as a program would, and end it."""

import json
import subprocess
import sys
import time
from urllib.error import URLError
from urllib.request import Request, urlopen

ADDRESS = "http://127.0.0.1:8799"


def ask(path, question=None):
    data = None if question is None else json.dumps(question).encode()
    request = Request(ADDRESS + path, data, {"Content-Type": "application/json"})
    with urlopen(request) as answer:
        return json.load(answer)


command = [
    sys.executable,
    "-m",
    "glasshead",
    "serve",
    "runs/tanhmax",
    "--audits",
    "audits",
    "--no-browser",
    "--port",
    "8799",
]
server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
try:
    while True:
        try:
            (model,) = ask("/api/models")
        except URLError:
            model = {"state": "loading"}
        if model["state"] != "loading":
            break
        time.sleep(0.2)
    print(model["name"], model["labels"])
    answer = ask("/api/explain", {"model": "tanhmax", "text": "a charming film with a dull ending"})
    print(answer["drawing"]["prediction"])
    for row in answer["drawing"]["numbers"]:
        print(f"{row['token']:10} {row['contribution']}")
    print(answer["python"])
finally:
    server.terminate()
    print("ended with", server.wait(timeout=10))
