"""The hostile end: runs beside the author's code, so nothing that it says is believed."""
