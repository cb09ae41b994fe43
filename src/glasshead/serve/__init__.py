"""An interactive page: type a text, and see the attention with its uncertainty. It has no logic of its own.

    `serve`          models and audits → a server until it is interrupted     server.py
    `ServeRequest`   what is served, and where                                server.py
    `create_app`     the same without a server, for tests and other servers   app.py

A question (questions.py) comes through the guard (guard.py) to an address (app.py, views.py), waits for its
model (served_model.py), one at a time, and is answered by functions of the library (answers.py). Audits are
read from their folders (audit_shelf.py). What the browser runs is in page/; extensions add pages (pages.py).
"""

from glasshead.serve import images as images  # registers its page
from glasshead.serve.app import create_app
from glasshead.serve.catalogue import Catalogue, find_served
from glasshead.serve.pages import PAGES, Host, Page, as_page
from glasshead.serve.questions import Answer, Measured
from glasshead.serve.server import ServeRequest, open_catalogue, serve

__all__ = [
    "PAGES", "Answer", "Catalogue", "Host", "Measured", "Page", "ServeRequest", "as_page", "create_app",
    "find_served", "open_catalogue", "serve",
]  # fmt: skip
