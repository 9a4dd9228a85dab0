"""How does an alarm become a message that people read: what it says, in which language, in which chat's form."""
