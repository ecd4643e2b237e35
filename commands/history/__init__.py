"""`batchproof history`: one module for each verb, and what asks git about commits."""
