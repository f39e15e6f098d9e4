// Package nearest finds the known name that somebody who wrote an unknown one
// most likely meant.
package nearest

import "strings"

// Name is the candidate with the smallest edit distance to name, in any letter case, of
// several the first. It is empty when none is similar: when all of the name differs, or
// more than two bytes and more than half of the candidate.
func Name(name string, candidates []string) string {
	const longest, typos = 128, 2 // no known name is longer; bounds the work on hostile input
	if len(name) > longest {
		return ""
	}
	name = strings.ToLower(name)
	best, bestDistance := "", len(name)
	for _, candidate := range candidates {
		distance := editDistance(name, strings.ToLower(candidate))
		if distance <= max(typos, len(candidate)/2) && distance < bestDistance {
			best, bestDistance = candidate, distance
		}
	}
	return best
}

// editDistance counts the bytes to insert, delete or replace to get from a to b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1) // distances from what is read of a to each beginning of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
