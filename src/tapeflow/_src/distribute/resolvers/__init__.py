"""Who belongs to a job: where a process learns it."""
