package externaldns

import "slices"

// nearestName gives the candidate with the smallest edit distance to name; of
// several the first. Empty when there are no candidates.
func nearestName(name string, candidates []string) string {
	const longestName = 80 // no flag is longer; bounds the work on hostile input
	if len(name) > longestName {
		name = name[:longestName]
	}
	best, bestDistance := "", 0
	for _, candidate := range candidates {
		distance := editDistance(name, candidate)
		if best == "" || distance < bestDistance {
			best, bestDistance = candidate, distance
		}
	}
	return best
}

// editDistance counts the bytes to insert, delete or replace to get from a to b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
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
			row[j+1] = slices.Min([]int{replaced, row[j] + 1, diagonal + 1})
		}
	}
	return row[len(b)]
}
