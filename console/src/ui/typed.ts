import { useEffect, useRef, useState } from 'preact/hooks'
import { useDelayed } from './basics'

const pause = 150 // milliseconds without a key until a text is sent

/** useTyped is the text of a box. It is sent when the user pauses, and follows the given text if that changes otherwise. */
export function useTyped(given: string, send: (text: string) => void): [string, (text: string) => void] {
  const [typed, setTyped] = useState(given)
  const known = useRef(given)
  useEffect(() => {
    if (given === known.current) return
    known.current = given
    setTyped(given)
  }, [given])
  const late = useDelayed(typed, pause)
  useEffect(() => {
    if (late === given) return
    known.current = late
    send(late)
  }, [late])
  return [typed, setTyped]
}
