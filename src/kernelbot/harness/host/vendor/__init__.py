"""What somebody who lends a machine checks on it before the first job comes."""
