"""What every floor says of a job: its windows, replies, endings, failures and orders."""
