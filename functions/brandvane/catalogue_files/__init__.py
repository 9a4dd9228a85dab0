"""A catalogue as files: from the texts of a folder to the model, with every fault found on the way."""
