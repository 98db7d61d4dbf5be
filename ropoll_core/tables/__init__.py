"""Files and tables to panels: long and semi-wide CSV, JSONL, Parquet, Arrow."""
