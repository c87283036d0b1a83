"""The hardware catalog: YAML files to frozen records with sources."""
