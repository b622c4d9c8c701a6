// Checks a running log with the Go team's own packages, so that trusting the log requires no code of this project.
//
//	go run . -url http://127.0.0.1:9000/ledger/2026h2 -vkey '<public key>' [-old checkpoint.txt] [-index n -entry file]
//
// Verifies the checkpoint's signature, every leaf hash against the root through the tiles, the growth since each old checkpoint,
// and, if an entry is given, that the log contains exactly this entry. Needs golang.org/x/mod: `go mod init cross && go mod tidy`, or
// the Debian package golang-golang-x-mod-dev with GO111MODULE=off GOPATH=/usr/share/gocode.
package main

import (
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const tileHeight = 8

func get(url string) ([]byte, error) {
	response, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	return io.ReadAll(response.Body)
}

// openCheckpoint verifies the note and reads its three lines.
func openCheckpoint(text []byte, verifier note.Verifier) (tlog.Tree, error) {
	var tree tlog.Tree
	opened, err := note.Open(text, note.VerifierList(verifier))
	if err != nil {
		return tree, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[0] != verifier.Name() || lines[3] != "" {
		return tree, errors.New("the note is not a checkpoint of this log")
	}
	if tree.N, err = strconv.ParseInt(lines[1], 10, 64); err != nil {
		return tree, err
	}
	root, err := base64.StdEncoding.DecodeString(lines[2])
	if err != nil || copy(tree.Hash[:], root) != tlog.HashSize {
		return tree, errors.New("the root is not a hash")
	}
	return tree, nil
}

// tiles reads tiles from the log. Go's paths begin with the tile height, and those of tlog-tiles do not.
type tiles struct{ url string }

func (t tiles) Height() int                     { return tileHeight }
func (t tiles) SaveTiles([]tlog.Tile, [][]byte) {}
func (t tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range wanted {
		path := strings.TrimPrefix(tile.Path(), fmt.Sprintf("tile/%d/", tileHeight))
		data, err := get(t.url + "/tile/" + path)
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

func check() error {
	url := flag.String("url", "", "address of the log")
	vkey := flag.String("vkey", "", "public key of the log")
	index := flag.Int64("index", -1, "index of an entry")
	entry := flag.String("entry", "", "file with that entry")
	var old []string
	flag.Func("old", "file with an earlier checkpoint; may be given several times", func(path string) error {
		old = append(old, path)
		return nil
	})
	flag.Parse()

	verifier, err := note.NewVerifier(*vkey)
	if err != nil {
		return fmt.Errorf("vkey: %w", err)
	}
	text, err := get(*url + "/checkpoint")
	if err != nil {
		return err
	}
	tree, err := openCheckpoint(text, verifier)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	fmt.Printf("checkpoint: %s, %d entries, root %s\n", verifier.Name(), tree.N, tree.Hash)

	// The reader checks every tile against the root before it returns hashes from the tile.
	reader := tlog.TileHashReader(tree, tiles{*url})
	for i := int64(0); i < tree.N; i += 256 {
		last := i + 255
		if last >= tree.N {
			last = tree.N - 1
		}
		indexes := make([]int64, 0, 256)
		for j := i; j <= last; j++ {
			indexes = append(indexes, tlog.StoredHashIndex(0, j))
		}
		hashes, err := reader.ReadHashes(indexes)
		if err != nil {
			return fmt.Errorf("tiles: %w", err)
		}
		proof, err := tlog.ProveRecord(tree.N, last, reader)
		if err != nil {
			return fmt.Errorf("inclusion of %d: %w", last, err)
		}
		if err := tlog.CheckRecord(proof, tree.N, tree.Hash, last, hashes[last-i]); err != nil {
			return fmt.Errorf("inclusion of %d: %w", last, err)
		}
	}
	fmt.Printf("tiles: %d leaf hashes are under the root\n", tree.N)

	for _, path := range old {
		earlierText, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		earlier, err := openCheckpoint(earlierText, verifier)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if earlier.N > tree.N {
			return fmt.Errorf("%s: the log has shrunk from %d to %d", path, earlier.N, tree.N)
		}
		if earlier.N == 0 {
			continue
		}
		proof, err := tlog.ProveTree(tree.N, earlier.N, reader)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := tlog.CheckTree(proof, tree.N, tree.Hash, earlier.N, earlier.Hash); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		fmt.Printf("growth: the tree of %d begins with the tree of %d\n", tree.N, earlier.N)
	}

	if *index >= 0 {
		data, err := os.ReadFile(*entry)
		if err != nil {
			return err
		}
		proof, err := tlog.ProveRecord(tree.N, *index, reader)
		if err != nil {
			return err
		}
		if err := tlog.CheckRecord(proof, tree.N, tree.Hash, *index, tlog.RecordHash(data)); err != nil {
			return fmt.Errorf("entry %d: %w", *index, err)
		}
		fmt.Printf("entry: the log holds exactly these %d bytes at %d\n", len(data), *index)
	}
	return nil
}

func main() {
	if err := check(); err != nil {
		fmt.Fprintln(os.Stderr, "FAILED:", err)
		os.Exit(1)
	}
}
