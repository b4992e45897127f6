"""The HTTP application: who asks, one error table. Each noun has its routes in its `api`."""
