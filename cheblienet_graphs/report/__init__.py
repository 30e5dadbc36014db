"""The report on a graph.

Tests of the same name, but: `verdict`, `second_moments` in test_verdict; `remedies`, `remarks` in
test_advice; `findings`, `rows`, `level`, `record` in test_text; `inspect`, `scale` in
test_diagnostics; `places`, `edges_text` in test_edges_of.
"""
