"""The report on a graph.

Tests of the same name, but: `verdict`, `moments` in test_verdict, test_advice and
test_scale; `inspect`, `level`, `opened`, `spectra` in test_diagnostics;
`rows`, `findings` in test_text.
"""
