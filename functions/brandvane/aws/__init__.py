"""How do the ports look on AWS? Adapters on DynamoDB, SQS, S3, SSM and Lambda; nothing of the engine is decided here."""
