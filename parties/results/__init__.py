"""What results look like: tables, figures and pages, for command line, notebooks and reports alike."""
