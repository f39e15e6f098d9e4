// Package canary proves that secrets are write-only: marked ones are given to a
// running Signpost wherever it takes one, and are searched for in all that it
// says, keeps and makes, plain and encoded. They are in no place but the Secrets
// that they are for.
package canary
