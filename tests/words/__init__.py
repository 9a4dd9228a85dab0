"""Where do the matcher's Chinese word list and its table of traditional characters come from?"""
