"""How do texts become vectors? Models behind one port, and the check every answer passes."""
