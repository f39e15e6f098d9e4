// Command report writes the tables and charts of docs/performance.md. With "print", it prints the
// table of what go test -bench prints.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/test/bench/report"
)

func main() {
	root := flag.String("root", "..", "the root of the repository")
	only := flag.String("only", "", "a regular expression of the benchmarks to run; ^$ for none, which marks old tables alone")
	output := flag.String("output", "", "a file with the output of the benchmarks, which are then not run")
	flag.Parse()
	var err error
	if flag.Arg(0) == "print" {
		err = show(os.Stdin)
	} else {
		err = write(*root, *only, *output)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// show prints the output of benchmarks as a table.
func show(from io.Reader) error {
	raw, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	figures, err := report.Parse(string(raw))
	if err == nil && len(figures) == 0 {
		err = errors.New("no benchmark has ended:\n" + string(raw))
	}
	if err == nil {
		fmt.Print(report.Table(figures))
	}
	return err
}

// write runs benchmarks and writes their tables. All tables that are old are marked.
func write(root, only, output string) error {
	file := filepath.Join(root, report.Page)
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	chosen, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	page, err := report.Rewrite(string(raw), func(r report.Region, content string) (report.Region, string, error) {
		if !chosen.MatchString(r.Run) {
			return r, content, nil
		}
		return measure(root, r, output)
	})
	if err == nil {
		page, err = report.Mark(root, page)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(page), 0o644) //nolint:gosec // a page
}

// measure runs the benchmark of a region, and writes its content.
func measure(root string, r report.Region, output string) (report.Region, string, error) {
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return r, "", err
	}
	printed, err := run(root, r, output)
	if err != nil {
		return r, "", err
	}
	figures, err := report.Parse(printed)
	if err != nil || len(figures) == 0 {
		return r, "", fmt.Errorf("%s printed no figures: %w\n%s", r.Run, err, printed)
	}
	commit, err := exec.Command("git", "-C", root, "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return r, "", err
	}
	r.Commit, r.Date = strings.TrimSpace(string(commit)), time.Now().UTC().Format("2 January 2006")
	if r.Digest, err = r.SourceDigest(root); err != nil {
		return r, "", err
	}
	shown, err := report.Only(figures, r.Rows)
	if err != nil {
		return r, "", err
	}
	content := report.Table(shown)
	if r.Chart != "" {
		picture := filepath.Join(root, filepath.Dir(report.Page), r.Chart)
		drawing, shows := report.Chart(figures, r.Series), "How figures grow with the names, each beside itself at the smallest size"
		if len(r.Series) == 0 {
			drawing, shows = report.Bars(shown), "The median (dark), the 99th percentile (light) and its goal (line) of each row"
		}
		if err := os.WriteFile(picture, []byte(drawing), 0o644); err != nil { //nolint:gosec // a picture
			return r, "", err
		}
		content += fmt.Sprintf("\n![%s](%s)\n", shows, r.Chart)
	}
	content += "\n" + r.Caption(machine(printed), firstWord(string(load)), output != "") + "\n"
	return r, content, nil
}

func run(root string, r report.Region, output string) (string, error) {
	if output != "" {
		raw, err := os.ReadFile(output)
		return string(raw), err
	}
	args := append([]string{"test", "-run", "^$", "-bench", "^(" + r.Run + ")$", "-benchmem", "-timeout", "60m", r.Package}, r.Args...)
	command := exec.Command("go", args...) //nolint:gosec // what the page says
	command.Dir = filepath.Join(root, r.Module)
	var printed bytes.Buffer
	command.Stdout, command.Stderr = io.MultiWriter(&printed, os.Stderr), os.Stderr
	err := command.Run()
	return printed.String(), err
}

// machine is what the benchmarks ran on.
func machine(printed string) string {
	_, cpu, _ := strings.Cut(printed, "\ncpu: ")
	cpu, _, _ = strings.Cut(cpu, "\n")
	return fmt.Sprintf("%d cores of %s, %s", runtime.NumCPU(), cpu, runtime.Version())
}

func firstWord(text string) string { return strings.Fields(text)[0] }
