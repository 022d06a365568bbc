"""How is a text cut into chunks?"""
