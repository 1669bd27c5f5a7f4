package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kb/pkg/load"
)

// hookPrefix begins the names of the settings that name a program for a type
// of files: KB_LOADER_rst="pandoc -t gfm {}".
const hookPrefix = "KB_LOADER_"

// hookKeys are the names of these settings that are set, sorted.
func (s *settings) hookKeys() []string {
	var keys []string
	for _, line := range s.env.environ() {
		if name, value, _ := strings.Cut(line, "="); value != "" {
			keys = append(keys, name)
		}
	}
	for name, value := range s.dotenv {
		if value != "" {
			keys = append(keys, name)
		}
	}
	keys = slices.DeleteFunc(keys, func(name string) bool {
		return !strings.HasPrefix(name, hookPrefix) || len(name) == len(hookPrefix)
	})
	slices.Sort(keys)
	return slices.Compact(keys)
}

// hooks are the programs that read files below the paths. What a .env names is
// not run where the .env lies in a folder that is indexed: such a folder may
// come from anybody.
func (s *settings) hooks(paths []string, warn func(string)) (load.Hooks, error) {
	if err := s.load(); err != nil {
		return nil, err
	}
	hooks := load.Hooks{}
	for _, key := range s.hookKeys() {
		command := s.get(key)
		if command.source == fromDotenv && hereIsBelow(paths) {
			warn(fmt.Sprintf("%s from .env is not used, because the .env lies in a folder that is read; set it in the environment", key))
			continue
		}
		argv, err := load.ParseHook(command.value)
		if err != nil {
			return nil, usagef("%s: %w", key, err)
		}
		hooks["."+strings.ToLower(strings.TrimPrefix(key, hookPrefix))] = argv
	}
	return hooks, nil
}

// hereIsBelow says whether the working directory is one of the folders or lies
// in one.
func hereIsBelow(paths []string) bool {
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if err != nil {
		return true
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			real, err = filepath.Abs(real)
		}
		if err != nil {
			return false
		}
		rel, err := filepath.Rel(real, here)
		return err == nil && filepath.IsLocal(rel)
	})
}

// setHooks gives the loader its programs and their environment, in which kb's
// keys have no place.
func (s *settings) setHooks(opt *load.Options, paths []string) (err error) {
	if opt.Hooks, err = s.hooks(paths, opt.Warn); err != nil || len(opt.Hooks) == 0 {
		return err
	}
	opt.HookEnv = slices.DeleteFunc(s.env.environ(), func(line string) bool {
		name, _, _ := strings.Cut(line, "=")
		return strings.HasPrefix(name, "KB_") && strings.HasSuffix(name, "_KEY")
	})
	return nil
}

// loaded names the types of files that are read, for people.
func loaded(hooks load.Hooks) string {
	return strings.Join(append(slices.Sorted(maps.Keys(hooks)), load.Types), ", ")
}
