"""Processes that end with the one that began them, however that one ended."""

import os
import threading
import time
from functools import cache

CHECK_SECONDS = 1.0


@cache
def end_with_parent(parent: int) -> None:
    """Let this process end soon after its ``parent``: those of joblib would wait for minutes, and work on."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(CHECK_SECONDS)
        os._exit(1)  # another has adopted it

    threading.Thread(target=watch, daemon=True).start()
