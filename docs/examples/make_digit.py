"""Write digit.png, a handwritten digit of scikit-learn."""

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits

shades = np.rint(load_digits().images[3] * (255 / 16)).astype(np.uint8)
Image.fromarray(shades).save("digit.png")
