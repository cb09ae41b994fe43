"""What is fast, as ratios of two things measured in one run: `python -m benchmarks.attention`, …"""

import os

# Before torch is imported. Threads that spin while they wait slow whatever else runs on the machine.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
