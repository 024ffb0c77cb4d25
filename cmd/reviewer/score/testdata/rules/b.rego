package b

# "git push --force origin" stands in a comment only
x if input.command == "example.com/x.sh"
