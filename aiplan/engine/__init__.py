"""A batch of plans in, named arrays and trees out."""
