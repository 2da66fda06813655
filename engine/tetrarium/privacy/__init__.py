"""What must not be kept or leak: secrets, what a person excludes, instructions in disguise, and bytes of what is gone."""
