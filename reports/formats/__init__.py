"""The project's file formats. Each has a module with its reader and its writer, and a schema that drives the reader.

Each format has a version number of its own, which only its schema states. They change for different reasons: a bench that
gains a field leaves every report readable, and a bundle that was recorded for a finding has to last longest.
"""
