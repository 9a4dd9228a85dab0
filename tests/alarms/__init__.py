"""Does every alarm of the deployed stack fire by its real cause, and by nothing else? ``make alarms``; not part of ``make test``."""
