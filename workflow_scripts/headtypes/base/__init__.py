"""What every room needs: errors that the user can fix, files written whole, tables, seeds, progress, statistics."""
