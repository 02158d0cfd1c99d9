find . -name "*.tmp" -delete
