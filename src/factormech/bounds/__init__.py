"""What no mechanism can beat: lower bounds."""
