"""How fast is it, beside something known, in the same run?"""
