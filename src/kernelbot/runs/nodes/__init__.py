"""What schedulers' nodes fetch and send, by signed links."""
