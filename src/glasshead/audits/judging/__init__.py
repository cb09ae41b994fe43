"""What every audit shares when it judges: numbers and words, without torch."""
