# Makes the project in which each of the commands of *.txt runs. It has content of every kind that can be lost.
set -e
umask 022
git init -q -b main .
git config user.email kim@example.com
git config user.name Kim
git config commit.gpgsign false

# What git has.
mkdir -p src/deep/a/b docs data assets config scripts lib
printf '# Shop\n\nSells tea.\n' > README.md
printf '#!/usr/bin/env python3\nprint(1)\n' > src/main.py
chmod 755 src/main.py
printf 'def one():\n    return 1\n' > src/util.py
printf 'deep\n' > src/deep/a/b/c.txt
printf 'guide\n' > docs/guide.md
printf 'intro\n' > docs/intro.md
printf 'id,name\n2,green\n1,black\n' > data/table.csv
printf '\000\001\002\377\376PNG\n\r\n' > assets/logo.bin
printf 'port: 80\n' > config/app.yaml
printf 'first line\nsecond line\n' > notes.md
printf 'x = 1\n' > src/dirty.py
printf 'x = 1\n' > lib/both.py
printf 'staged v1\n' > staged.txt
printf 'hidden\n' > .hidden
printf 'space\n' > 'with space.txt'
printf 'umlaut\n' > 'ünïcode.txt'
printf 'brackets\n' > '[brackets].txt'
printf 'b\n' > b.txt
printf 'dash\n' > ./-dash.txt
printf '*.log\nout/\n.env\n*.bak\n' > .gitignore
printf 'clean:\n\trm -rf out ideas\n\ndocs-all:\n\tcat docs/*.md > draft.md\n' > Makefile
printf 'rm -rf out ideas\n' > scripts/clean.sh
printf 'for f in *.md; do\n  echo "end" >> "$f"\ndone\n' > scripts/stamp.sh
printf 'import shutil\nshutil.rmtree("ideas")\n' > scripts/clean.py
git add -A
git commit -q -m 'first'
git branch feature
printf 'staged v2\n' > staged.txt
git commit -q -am 'second'
git checkout -q feature
printf '# Shop\n\nSells coffee.\n' > README.md
mkdir beta
printf 'beta\n' > beta/only.txt
git rm -q docs/intro.md
git add -A
git commit -q -m 'feature'
git checkout -q main
printf 'in the stash\n' >> README.md
git stash -q

# What git does not have as it is.
printf 'first line\nsecond line, changed\nthird line\n' > notes.md
printf 'x = 2\n' > src/dirty.py
printf 'x = 2\n' > lib/both.py
git add lib/both.py
printf 'x = 3\n' > lib/both.py
printf 'staged v3\n' > staged.txt
git add staged.txt
rm docs/intro.md
mkdir -p ideas/old 'my plans' out private empty/inner shared
printf 'draft\nof a text\n' > draft.md
printf 'one\n' > ideas/one.md
printf 'two\n' > ideas/two.md
printf 'older\n' > ideas/old/three.md
printf 'next year\n' > 'my plans/next year.txt'
printf 'dollar\n' > '$dollar.txt'
printf 'quote\n' > "it's.txt"
printf 'double\n' > 'say "hi".txt'
printf 'star\n' > 'a*b.txt'
printf 'back\n' > 'back\slash.txt'
printf 'newline\n' > 'two
lines.txt'
printf 'semi\n' > 'a;b.txt'
printf 'amp\n' > 'a&b.txt'
printf 'tilde\n' > '~'
printf 'no end of line' > no-newline.txt
printf 'win\r\nlines\r\n' > crlf.txt
printf 'ends in a space\n' > 'end '
printf '\000\377\001local\n' > data/local.bin
printf '日本\n' > '日本語.txt'
: > nothing.txt
printf 'read only\n' > ro.txt
chmod 444 ro.txt
printf 'echo hi\n' > run.sh
chmod 750 run.sh
printf 'private\n' > private/diary.txt
chmod 600 private/diary.txt
chmod 700 private
printf 'shared\n' > shared/list.txt
chmod 1777 shared
printf 'hidden too\n' > .draft

# What git ignores.
printf 'a line\n' > build.log
printf 'A=b\n' > .env
chmod 600 .env
printf '\001\002' > out/result.bin
printf 'kept\n' > kept.bak

# Links.
ln -s notes.md link
ln -s docs dirlink
ln -s ideas ideas-link
ln -s nowhere dangling
ln -s ../draft.md ideas/up
ln draft.md twin.md
ln README.md readme-twin

# Archives and patches that hold other versions.
mkdir .make
printf 'from the archive\n' > .make/notes.md
mkdir .make/ideas
printf 'from the archive\n' > .make/ideas/one.md
tar cf old.tar -C .make notes.md ideas
gzip -c .make/notes.md > notes.md.gz
gzip -c .make/notes.md > draft.md.gz
printf -- '--- a/notes.md\n+++ b/notes.md\n@@ -1,3 +1,3 @@\n-first line\n+new line\n second line, changed\n third line\n' > new.patch
printf -- '--- a/draft.md\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-draft\n-of a text\n' > gone.patch
printf 'notes.md\ndraft.md\n' > list.txt
if command -v zip > /dev/null; then (cd .make && zip -qr ../old.zip notes.md ideas); fi
rm -r .make
