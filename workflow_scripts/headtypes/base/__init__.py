"""What every room needs: errors a user can mend, whole files, tables on disk, seeds, progress, statistics."""
