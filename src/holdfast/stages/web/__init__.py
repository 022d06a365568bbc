"""How is the web asked, and what is taken from its pages and sitemaps?"""
