package throttle

// Ask marks the connection with these addresses as busy with a request, until done.
// Connections without a known subject share the requests at work that an address may
// have. A request takes memory until its answer is read, and HTTP/2 has many requests on
// one connection. Beyond that limit, the connection with the most requests ends, among
// several the oldest.
func (c *Connections) Ask(remote, local string) (done func()) {
	if c == nil {
		return func() {}
	}
	one, most := c.ask(ends{remote, local})
	if most != nil {
		_ = most.Conn.Close()
		c.ended(fullAsking)
	}
	if one == nil {
		return func() {}
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if one.strange != nil {
			one.asking--
			c.asking--
		}
	}
}

// ask counts a request. one is the connection that it counts for, nil for none; most
// the one that has to end.
func (c *Connections) ask(at ends) (one, most *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one, ok := c.open[at]
	if !ok || one.strange == nil {
		return nil, nil
	}
	one.asking++
	c.asking++
	if c.asking <= c.each {
		return one, nil
	}
	for at := c.strange.Front(); at != nil; at = at.Next() {
		if next, _ := at.Value.(*connection); most == nil || next.asking > most.asking {
			most = next
		}
	}
	c.remove(most)
	return one, most
}
