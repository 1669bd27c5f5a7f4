package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"kb/pkg/build"
	"kb/pkg/model"
	"kb/pkg/store"
)

// builtIndex is what a build wants to know of the index before it begins.
type builtIndex struct {
	exists   bool
	settings store.Settings
	roots    []string
}

func knownIndex(ctx context.Context, st store.Store) (*builtIndex, error) {
	r, err := st.Open(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return &builtIndex{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	known := &builtIndex{exists: r.Info().Documents > 0, settings: r.Info().Settings}
	for root, err := range r.Roots(ctx) {
		if err != nil {
			return nil, err
		}
		known.roots = append(known.roots, root.Path)
	}
	return known, nil
}

// paths are what is to be built, as the index spells them: those that were
// named, or else the roots of the index, or else the folder notes.
func (k *builtIndex) paths(home *build.Home, s *settings, given []string, named bool) ([]string, error) {
	if !named {
		given = k.roots
	}
	if !named && len(given) == 0 {
		if !notesHere() {
			return nil, withHint(usagef("no folder to build: the index knows none, and there is no folder notes here"), `name it: kb build FOLDER`)
		}
		given = []string{defaultNotes}
	}
	locate := func() ([]string, error) { return home.Locate(given, k.roots) }
	if !named && len(k.roots) > 0 {
		locate = func() ([]string, error) { return home.LocateRoots(k.roots) }
	}
	paths, err := locate()
	if err != nil {
		return nil, err
	}
	if err := enterHome(home, s, paths); err != nil || len(paths) == 0 || anyThere(paths) {
		return paths, err
	}
	if named {
		return nil, fmt.Errorf("%s: no such file or folder", given[0])
	}
	return nil, withHint(fmt.Errorf("%s: the index was built from it, but there is no such folder here", given[0]),
		"run kb build in the folder that the index was built in, or name a folder: kb build FOLDER")
}

// enterHome makes the folder that the paths of the index count from the
// working directory; the index stays the one that was named.
func enterHome(home *build.Home, s *settings, paths []string) error {
	index, err := s.get("KB_INDEX").value, error(nil)
	if !isURL(index) {
		index, err = filepath.Abs(index)
	}
	if err != nil {
		return err
	}
	moved, err := home.Enter(paths)
	if moved {
		s.flags["KB_INDEX"] = index
	}
	return err
}

func anyThere(paths []string) bool {
	for _, p := range paths {
		if _, err := os.Stat(p); !errors.Is(err, os.ErrNotExist) {
			return true
		}
	}
	return false
}

// keepsVectors refuses to replace what was paid for by offline vectors: most
// likely the settings are those of another terminal.
func (k *builtIndex) keepsVectors(name string, embedder model.Info) error {
	if k.settings.BaseURL == "" || embedder.BaseURL != "" {
		return nil
	}
	return withHint(&codeError{exitMismatch, fmt.Errorf("%s has vectors of model %s, but no embedding endpoint is configured: offline ones would replace them",
		name, model.Describe(k.settings.Model, k.settings.BaseURL))},
		"set KB_EMBED_BASE_URL and KB_EMBED_MODEL as they were; to embed it offline, remove %s first", name)
}

// defaultNotes is the folder that is built where none is named.
const defaultNotes = "notes"

// notesHere says whether the working directory has it.
func notesHere() bool {
	info, err := os.Stat(defaultNotes)
	return err == nil && info.IsDir()
}
