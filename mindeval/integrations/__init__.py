"""mindeval inside other programs. Nothing here is imported unless a user asks for it."""
