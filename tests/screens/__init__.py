"""The operator's screens with made-up data, as pictures for the documents and as text for a test."""
