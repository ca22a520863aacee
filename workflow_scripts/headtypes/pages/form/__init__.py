"""The configuration as a form, as a page."""
