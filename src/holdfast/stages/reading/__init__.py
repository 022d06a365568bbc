"""How do bytes become text?"""
