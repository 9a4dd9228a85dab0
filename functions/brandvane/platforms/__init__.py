"""AI platforms: one module a protocol, one row of ``platforms.toml`` a platform, one reading of errors."""
