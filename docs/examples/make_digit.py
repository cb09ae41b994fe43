"""Write digit.png, a handwritten digit of scikit-learn, and four others into the folder four."""

from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits

images = np.rint(load_digits().images * (255 / 16)).astype(np.uint8)
Image.fromarray(images[3]).save("digit.png")
Path("four").mkdir(exist_ok=True)
for number in (0, 4, 6, 7):
    Image.fromarray(images[number]).save(f"four/{number}.png")
