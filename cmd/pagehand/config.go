package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// BeforeResolve reads the configuration file, whose values then fill the flags that neither the command line nor a variable set.
// A file that was named must exist.
func (c *cli) BeforeResolve(ctx *kong.Context) error {
	name, named := "", false
	for _, flag := range ctx.Flags() {
		if flag.Name == "config" {
			name = string(ctx.FlagValue(flag).(path))
		}
	}
	if named = name != ""; !named {
		folder, err := os.UserConfigDir()
		if err != nil {
			return nil // no home, no configuration
		}
		name = filepath.Join(folder, "pagehand", "config.yaml")
	}
	file, err := readConfig(name)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil
	}
	var unreadable *fs.PathError
	if errors.As(err, &unreadable) && !named {
		return fmt.Errorf("the default configuration file: %w; make it readable, or name another with --config", err)
	}
	if err != nil {
		return err
	}
	ctx.AddResolver(file)
	return nil
}

// configFile is a parsed configuration file: a mapping of flag names, of any command, to values.
type configFile struct {
	name     string
	settings []setting
}

// setting is one entry of a configuration file.
type setting struct {
	key   string
	line  int
	value any
}

func readConfig(name string) (*configFile, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", name, yaml.FormatError(err, false, false))
	}
	c := &configFile{name: name}
	for _, document := range tree.Docs {
		if document.Body == nil || document.Body.Type() == ast.NullType || document.Body.Type() == ast.CommentType {
			continue
		}
		entries, ok := document.Body.(ast.MapNode)
		if !ok {
			return nil, fmt.Errorf("%s: line %d: expected one \"flag: value\" a line", name, document.Body.GetToken().Position.Line)
		}
		for entry := entries.MapRange(); entry.Next(); {
			s := setting{key: entry.Key().GetToken().Value, line: entry.Key().GetToken().Position.Line}
			if err := yaml.NodeToValue(entry.Value(), &s.value); err != nil {
				return nil, fmt.Errorf("%s: %s", name, yaml.FormatError(err, false, false))
			}
			c.settings = append(c.settings, s)
		}
	}
	return c, nil
}

// Validate finds keys that are no flag of any command, so that a misspelt limit is not taken for a limit.
func (c *configFile) Validate(app *kong.Application) error {
	known := map[string]bool{}
	err := kong.Visit(app.Node, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok && flag.Name != "help" && flag.Name != "version" && flag.Name != "config" {
			known[flag.Name] = true
		}
		return next(nil)
	})
	if err != nil {
		return err
	}
	for _, s := range c.settings {
		if !known[s.key] {
			return fmt.Errorf("%s: line %d: there is no flag --%s", c.name, s.line, s.key)
		}
	}
	return nil
}

// Resolve returns the file's value of a flag. It decodes the value once to tell the line of one that is wrong.
func (c *configFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, env := range flag.Envs {
		if _, set := os.LookupEnv(env); set {
			return nil, nil // kong would prefer the file
		}
	}
	for _, s := range c.settings {
		if s.key != flag.Name || s.value == nil {
			continue
		}
		scan := kong.Scan().PushTyped(s.value, kong.FlagValueToken)
		trial := reflect.New(flag.Target.Type()).Elem()
		if err := flag.Mapper.Decode(&kong.DecodeContext{Value: flag.Value, Scan: scan}, trial); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", c.name, s.line, err)
		}
		return s.value, nil
	}
	return nil, nil
}
