"""What does the computer give us? The real clocks, threads, files and locks behind the ports."""
