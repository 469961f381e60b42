"""What the end-to-end tests stand on: real servers, the proxy, schemas in both, and the one-table truth."""
