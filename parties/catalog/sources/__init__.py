"""What holds rows: CSV files, spreadsheets, Parquet files and databases, in batches as they come."""
