"""The warm judge: a host that stays for the next jobs of the same user, reached by a socket."""
