"""The report on a graph: sentences, tables, text and JSON of what `measure` measured."""
