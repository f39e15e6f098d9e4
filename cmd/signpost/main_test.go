package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// asProgram is the environment variable that makes the test binary the program.
const asProgram = "SIGNPOST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// TestTheProgramEndsWithTheExitCodeOfTheCommand, which scripts rely on.
func TestTheProgramEndsWithTheExitCodeOfTheCommand(t *testing.T) {
	for code, args := range map[int][]string{0: {"version"}, 2: {"get", "--no-such-flag"}} {
		command := exec.CommandContext(t.Context(), os.Args[0], args...)
		command.Env = append(os.Environ(), asProgram+"=1")
		output, err := command.CombinedOutput()
		if code == 0 {
			require.NoError(t, err, "%s", output)
		}
		require.Equal(t, code, command.ProcessState.ExitCode(), "%s", output)
	}
}
