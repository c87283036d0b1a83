"""One renderer per format over the same result."""
