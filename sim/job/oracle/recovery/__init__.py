"""What an oracle checks of failures and of what the job goes back to."""
