"""What a covert run commits to, signs and keeps; what an auditor does with it, see `parties.auditors`.

seeds        commitments to the seed of a run and to a party's part of the coin
cells        columns as canonical bytes, and commitments to them
statements   what both sides sign of the record of a run
frames       frames as bytes in a file
answers      what the history of exact jobs answered in a run
run_case     all that an audit needs besides the frames
store        the sealed records of the runs in the home
covert       one side of a covert run: seeds, record, signatures under it, the coin
"""
