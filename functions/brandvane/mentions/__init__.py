"""Reading answers: which brands they mention, what each answer counts as, and what the counts add up to."""
