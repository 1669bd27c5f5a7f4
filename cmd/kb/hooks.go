package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kb/pkg/load"
)

// hookPrefix begins the names of the settings that name a program for a type
// of files: KB_LOADER_rst="pandoc -t gfm {}".
const hookPrefix = "KB_LOADER_"

// hookKeys are the names of these settings in the environment, sorted.
func (s *settings) hookKeys() []string {
	var keys []string
	for _, line := range s.env.environ() {
		if name, value, _ := strings.Cut(line, "="); isHookKey(name) && value != "" {
			keys = append(keys, name)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func isHookKey(name string) bool {
	return strings.HasPrefix(name, hookPrefix) && len(name) > len(hookPrefix)
}

// hooks are the programs that read files. Only the environment names them: a
// .env may have come with the folder, from anybody.
func (s *settings) hooks(warn func(string)) (load.Hooks, error) {
	if err := s.load(); err != nil {
		return nil, err
	}
	if names := s.hooksOfDotenv(); names != nil {
		warn(fmt.Sprintf("%s from .env: not used, only the environment names programs", strings.Join(names, ", ")))
	}
	hooks := load.Hooks{}
	for _, key := range s.hookKeys() {
		command, _ := s.env.lookup(key)
		hook, err := load.ParseHook(command)
		if err != nil {
			return nil, usagef("%s: %w", key, err)
		}
		hooks["."+strings.ToLower(strings.TrimPrefix(key, hookPrefix))] = hook
	}
	return hooks, nil
}

// hooksOfDotenv are the names of such settings in the .env, sorted.
func (s *settings) hooksOfDotenv() []string {
	var names []string
	for name, value := range s.dotenv {
		if isHookKey(name) && value != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// setHooks gives the loader its programs and their environment, in which kb's
// settings have no place: keys and passwords are among them.
func (s *settings) setHooks(opt *load.Options) (err error) {
	if opt.Hooks, err = s.hooks(opt.Warn); err != nil || len(opt.Hooks) == 0 {
		return err
	}
	opt.HookEnv = slices.DeleteFunc(s.env.environ(), func(line string) bool { return strings.HasPrefix(line, "KB_") })
	return nil
}

// loaded names the types of files that are read, for people.
func loaded(hooks load.Hooks) string {
	return strings.Join(append(slices.Sorted(maps.Keys(hooks)), load.Types), ", ")
}
