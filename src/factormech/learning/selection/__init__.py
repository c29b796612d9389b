"""Selection: which coordinate of the users' 0/1 vectors has the largest mean, found with one private bit a user."""
