"""mentions"""
