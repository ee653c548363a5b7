"""What the joint side and the anonymizer know alike of tables that were not made for them.

python-calamine reads sheets and pyarrow Parquet. Dialects are guessed here: the sniffers of DuckDB and
clevercsv decide more than a file may leave unsaid, and have no word for what to declare.
"""
