"""`batchproof hunt`: random configurations and traffic against one deployment after another, all of it judged."""
