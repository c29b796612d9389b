"""What the rules of the workflow call: read files, call a room, write a file."""
