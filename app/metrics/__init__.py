"""What is computed of recorded calls: figures, efficiency, expectations, comparisons. Pure; nothing is called here."""
