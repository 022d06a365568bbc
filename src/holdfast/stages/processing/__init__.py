"""Who makes Markdown of documents we cannot read, or not well enough? The processors."""
