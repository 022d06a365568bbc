"""Where is it kept? Doors in the words of the domain; one folder per database behind them."""
