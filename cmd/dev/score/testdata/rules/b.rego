package b

# "git push --force origin" is in a comment only
x if input.command == "example.com/x.sh"
