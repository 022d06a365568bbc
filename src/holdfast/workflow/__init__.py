"""What happens next? One file per verb: this listing is the operation guide."""
