"""Where is it kept on one machine? In SQLite files, through apsw."""
