glasshead explain my-sentences "a cat sleeps on the sofa" --pair "the kitten is resting" --method erasure-mask-token --target "first text"
