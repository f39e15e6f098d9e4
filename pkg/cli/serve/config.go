package serve

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/signpost-dns/signpost/pkg/domain/nearest"
	"github.com/signpost-dns/signpost/pkg/domain/redact"
	"github.com/signpost-dns/signpost/pkg/domain/safeyaml"
)

// FillFlags gives each flag that the command line leaves out the value of its
// variable in the environment, else that of the file of --config. All errors
// come at once.
func FillFlags(flags *pflag.FlagSet) error {
	file, values := os.Getenv(variable(ConfigFlag)), map[string]any{}
	if flag := flags.Lookup(ConfigFlag); flag.Changed {
		file = flag.Value.String()
		if file == "" {
			return errors.New("--config: give a file name")
		}
	}
	if file != "" {
		var err error
		if values, err = readConfig(file, flags); err != nil {
			return err
		}
	}
	var wrong []error
	flags.VisitAll(func(flag *pflag.Flag) {
		value := values[flag.Name]
		origin := "--config: " + file
		if text := os.Getenv(variable(flag.Name)); text != "" {
			value, origin = text, variable(flag.Name)
		}
		if !isOption(flag) || flag.Changed || value == nil {
			return
		}
		if err := setFlag(flags, flag, value); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", origin, err))
		}
	})
	return errors.Join(wrong...)
}

// variable names the variable of the environment that gives a flag.
func variable(flag string) string {
	return "SIGNPOST_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// isOption tells whether a flag may be set by the environment or the configuration file.
func isOption(flag *pflag.Flag) bool { return flag.Name != "help" && flag.Name != ConfigFlag }

// readConfig reads the file. Its keys are names of flags.
func readConfig(file string, flags *pflag.FlagSet) (map[string]any, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	values := map[string]any{}
	if err := safeyaml.UnmarshalStrict(content, &values); err != nil {
		return nil, fmt.Errorf("--config: %s: %s", file, redact.YAML(content, err))
	}
	var known []string
	flags.VisitAll(func(flag *pflag.Flag) {
		if isOption(flag) {
			known = append(known, flag.Name)
		}
	})
	var wrong []error
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, key) {
			wrong = append(wrong, fmt.Errorf("--config: %s: there is no flag %q%s", file, key, didYouMean(key, known)))
		}
	}
	return values, errors.Join(wrong...)
}

func didYouMean(key string, known []string) string {
	if near := nearest.Name(key, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; signpost serve --help lists the flags"
}

// setFlag sets a flag to a value of the environment or the file.
func setFlag(flags *pflag.FlagSet, flag *pflag.Flag, value any) error {
	text, err := flagText(flag, value)
	if err != nil {
		return err
	}
	return FlagFault(flags.Set(flag.Name, text))
}

// FlagFault is a flag's error. It does not quote the value, which may hold a
// password or be one that was meant for another flag.
func FlagFault(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	flag := invalid.GetFlag()
	takes, known := map[string]string{
		"bool": "true or false", "int": "a whole number", "float64": "a number", "duration": "a duration such as 30s or 2m",
		"stringSlice": "a list with commas; put an item with a comma or a quote into quotes",
	}[flag.Value.Type()]
	if !known { // a kind of our own, which says itself what would do
		return err
	}
	return fmt.Errorf("--%s takes %s", flag.Name, takes)
}

// flagText is a value as the command line would have it: a list with commas.
func flagText(flag *pflag.Flag, value any) (string, error) {
	switch value := value.(type) {
	case string:
		return value, nil
	case bool, float64, int64, int:
		return fmt.Sprint(value), nil
	case []any:
		if flag.Value.Type() != "stringSlice" {
			return "", fmt.Errorf("--%s accepts one value, not a list", flag.Name)
		}
		return listText(value)
	}
	return "", fmt.Errorf("--%s accepts text, a number, a boolean or a list", flag.Name)
}

func listText(values []any) (string, error) {
	words := make([]string, len(values))
	for i, value := range values {
		words[i] = fmt.Sprint(value)
	}
	var line bytes.Buffer
	writer := csv.NewWriter(&line)
	if err := writer.Write(words); err != nil {
		return "", err
	}
	writer.Flush()
	return strings.TrimSuffix(line.String(), "\n"), writer.Error()
}
