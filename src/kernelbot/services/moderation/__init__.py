"""Which submissions a person looks at before they are ranked, and what organisers decide."""
