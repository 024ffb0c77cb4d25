class Reviewer < Formula
  desc "Policy for coding agents"
  homepage "{{.Website}}"
  version "{{.Version}}"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "{{.Downloads.darwin_arm64.URL}}"
      sha256 "{{.Downloads.darwin_arm64.SHA256}}"
    end
    on_intel do
      url "{{.Downloads.darwin_amd64.URL}}"
      sha256 "{{.Downloads.darwin_amd64.SHA256}}"
    end
  end

  on_linux do
    on_arm do
      url "{{.Downloads.linux_arm64.URL}}"
      sha256 "{{.Downloads.linux_arm64.SHA256}}"
    end
    on_intel do
      url "{{.Downloads.linux_amd64.URL}}"
      sha256 "{{.Downloads.linux_amd64.SHA256}}"
    end
  end

  def install
    bin.install "reviewer", "reviewer-hook"
    bash_completion.install "completions/reviewer.bash" => "reviewer"
    zsh_completion.install "completions/_reviewer"
    fish_completion.install "completions/reviewer.fish"
    man1.install Dir["man/man1/*.1"]
    doc.install "LICENSE", "README.md", "licenses"
  end

  test do
    assert_match "reviewer v#{version}", shell_output("#{bin}/reviewer version")
  end
end
