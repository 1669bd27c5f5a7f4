package main

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"kb/pkg/server"
)

// accessFlags say where a server listens, and who may use it.
type accessFlags struct {
	name, addr string // of the flag for the address, and the address
	insecure   bool
	hosts      []string
	origins    []string
	rate       float64
	rated      bool // a rate was given
	log        string
}

// register registers the flags but for the address.
func (f *accessFlags) register(cmd *cobra.Command, s *settings) {
	bind(cmd, s, "token", "KB_TOKEN", "what clients must send")
	cmd.Flags().BoolVar(&f.insecure, "insecure", false, "let anybody who can reach the address do all that it offers")
	cmd.Flags().StringArrayVar(&f.hosts, "host", nil, "a further name that the server is called by (may be repeated)")
	cmd.Flags().StringArrayVar(&f.origins, "origin", nil, "a site whose pages may use the server, like https://wiki.example.org (may be repeated)")
	cmd.Flags().Float64Var(&f.rate, "rate", 0, "requests a second of one client (default: 20 where others than this machine can reach it, else no limit)")
	cmd.Flags().StringVar(&f.log, "log", "text", "text, json or off")
}

// minToken is the least length of a token that others than this machine may
// guess at.
const minToken = 16

// apply sets the options of a server by the flags. From then on the console
// logs, too.
func (f *accessFlags) apply(opt *server.Options, s *settings, c *console) (err error) {
	opt.Address, opt.Hosts, opt.Origins, opt.Rate = f.addr, f.hosts, f.origins, f.rate
	if err := f.secure(opt, s); err != nil {
		return err
	}
	opt.Log, err = f.logger(c)
	c.log = opt.Log
	return err
}

func (f *accessFlags) listen() (net.Listener, error) {
	l, err := net.Listen("tcp", f.addr)
	if err != nil {
		return nil, withHint(fmt.Errorf("cannot listen on %s: %w", f.addr, listenReason(err)), "name another address: --%s 127.0.0.1:8081", f.name)
	}
	return l, nil
}

// listenReason is the error without the name of the system call.
func listenReason(err error) error {
	var call *os.SyscallError
	if errors.As(err, &call) {
		return call.Err
	}
	return err
}

// secure sees to it that nobody but this machine, or who has the token, can
// use the server, unless that is asked for.
func (f *accessFlags) secure(opt *server.Options, s *settings) error {
	host, _, err := net.SplitHostPort(f.addr)
	if err != nil {
		return withHint(usagef("--%s %q: not an address and a port", f.name, f.addr), "like 127.0.0.1:8080, or :8080 for all addresses of this machine")
	}
	token := s.get("KB_TOKEN")
	if token.source == fromFlag && !token.set() {
		return usagef("--token is empty")
	}
	opt.Token = token.value
	public := !server.IsLoopback(host)
	if public && opt.Token == "" && !f.insecure {
		return withHint(usagef("--%s %s can be reached from other machines, and no token is set", f.name, f.addr),
			"set KB_TOKEN to a long random text, or add --insecure to let anybody read and change the notes")
	}
	if public && opt.Token != "" && len(opt.Token) < minToken {
		return withHint(usagef("the token has %d characters, and %s can be reached from other machines: it needs %d", len(opt.Token), f.addr, minToken),
			"a random one: openssl rand -hex 16")
	}
	if public && !f.rated {
		opt.Rate = 20
	}
	if !(opt.Rate >= 0) || math.IsInf(opt.Rate, 0) {
		return usagef("--rate %g: must be a number of at least 0", opt.Rate)
	}
	for _, h := range f.hosts {
		if _, _, err := net.SplitHostPort(h); err == nil || strings.Contains(h, "/") {
			return withHint(usagef("--host %q is not the name of a host", h), "leave out the port and what is around the name")
		}
	}
	for i, origin := range f.origins {
		if origin == "*" && opt.Token == "" {
			return withHint(usagef("--origin '*' lets the pages of every site read the notes"), "name the site, or set KB_TOKEN")
		}
		u, err := url.Parse(origin)
		if origin != "*" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "") {
			return withHint(usagef("--origin %q is not the origin of a site", origin), "like https://wiki.example.org or http://localhost:5173")
		}
		opt.Origins[i] = strings.TrimRight(origin, "/")
	}
	return nil
}

func (f *accessFlags) logger(c *console) (*slog.Logger, error) {
	switch f.log {
	case "text":
		return slog.New(slog.NewTextHandler(c, nil)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(c, nil)), nil
	case "off":
		return slog.New(slog.DiscardHandler), nil
	}
	return nil, usagef("--log %s: text, json or off", f.log)
}
