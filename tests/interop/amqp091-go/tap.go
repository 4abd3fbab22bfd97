package main

import (
	"bufio"
	"fmt"
	"math/rand"
	"net"
	"os"
	"runtime"
	"strings"
	"time"
)

// What the program needs to be a client of run.py: tests with a sentence as their name, and lines
// that say how they went.

var uri = environment("BATON_URI", "amqp://guest:guest@127.0.0.1:5672/%2f")

type failure struct {
	why  string
	line int
}

type skip string

type entry struct {
	name string
	run  func()
}

var (
	tests    []entry
	cleanups []func()
)

func environment(name, otherwise string) string {
	if value, set := os.LookupEnv(name); set {
		return value
	}
	return otherwise
}

// test registers a test; it fails when it panics.
func test(name string, run func()) { tests = append(tests, entry{name, run}) }

// cleanup has something done when the test that runs now has ended.
func cleanup(act func()) { cleanups = append(cleanups, act) }

// caller is the line of the test, in main.go, that is being run.
func caller() int {
	for depth := 1; ; depth++ {
		_, file, line, ok := runtime.Caller(depth)
		if !ok {
			return 0
		}
		if strings.HasSuffix(file, "main.go") {
			return line
		}
	}
}

func unique(name string) string { return fmt.Sprintf("interop.go.%s.%08x", name, rand.Uint32()) }

// uriOf is the URI of a broker, or user, of that kind: SMALL (has little memory), LIMITED (may do little).
func uriOf(kind string) string {
	given := os.Getenv("BATON_" + kind + "_URI")
	if given == "" {
		panic(skip("nobody here has a " + kind + " one"))
	}
	return given
}

// restartBroker has run.py end the broker with SIGTERM and start it again; it is ready afterwards.
func restartBroker() {
	control := environment("BATON_CONTROL", "")
	if control == "" {
		panic(skip("nobody here can restart the broker"))
	}
	runner := have(net.DialTimeout("tcp", control, 5*time.Second))
	defer runner.Close()
	have(fmt.Fprintln(runner, "restart"))
	equal(have(bufio.NewReader(runner).ReadString('\n')), "ok\n")
}

// result is a test's line, after its limit at the latest.
func result(it entry, limit time.Duration) string {
	said := make(chan string, 1)
	go func() {
		defer func() {
			switch why := recover().(type) {
			case nil:
				said <- "ok " + it.name
			case skip:
				said <- fmt.Sprintf("skip %s: %s", it.name, string(why))
			case failure:
				text := strings.Join(strings.Fields(why.why), " ")
				said <- fmt.Sprintf("not ok %s: %.500s (line %d)", it.name, text, why.line)
			default:
				said <- fmt.Sprintf("not ok %s: %v", it.name, why)
			}
		}()
		it.run()
	}()
	select {
	case line := <-said:
		return line
	case <-time.After(limit):
		return fmt.Sprintf("not ok %s: it took too long", it.name)
	}
}

// run runs all tests, or those whose name contains the first argument.
func run() {
	total, failed := 0, false
	for _, it := range tests {
		if len(os.Args) > 1 && !strings.Contains(it.name, os.Args[1]) {
			continue
		}
		total++
		line := result(it, 90*time.Second)
		failed = failed || strings.HasPrefix(line, "not ok")
		fmt.Println(line)
		for _, act := range cleanups {
			act()
		}
		cleanups = nil
	}
	fmt.Printf("1..%d\n", total)
	if failed {
		os.Exit(1)
	}
}
