"""How both daemons come to the same decision about a job: proposals, approvals, and the news between them."""
