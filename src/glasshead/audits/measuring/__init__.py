"""What every audit shares when it measures: a model, its inputs, and passes shared between audits."""
