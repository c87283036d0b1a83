"""All that is known of a few scenarios as a page of HTML."""
