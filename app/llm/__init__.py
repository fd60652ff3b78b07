"""Language model providers; `http.py` is the only importer of the HTTP library."""
