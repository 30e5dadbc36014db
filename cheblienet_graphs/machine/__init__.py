"""The machine a build runs on: its cores, its devices, its signals, its linear algebra."""
