"""The project's file formats: one module each, with its reader and its writer, beside the schema that drives the reader.

Each format has a version number of its own, which only its schema states. They change for different reasons: a bench that
gains a field leaves every report readable, and a bundle that was recorded for a finding has to last longest.
"""
