"""The program under rough hands: accepted values of every kind, and files of every kind."""
