"""The command line `clg`: a thin skin over cheblienet_graphs.

It is tested as users meet it: commands that work in files by their subject, those that must fail in
`test_refusals.py`.
"""
