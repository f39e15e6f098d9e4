import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { plural } from '../lib/text'
import { Text } from './basics'

const most = 20 // marked targets that are shown before somebody asks for all

/** Marked are targets that come or go, each marked as such. */
export function Marked({ as: Mark, all }: { as: 'ins' | 'del'; all: string[] }) {
  const [open, setOpen] = useState(false)
  return (
    <>
      {all.slice(0, open ? all.length : most).map((target) => (
        <Fragment key={target}>
          <Mark>
            <Text>{target}</Text>
          </Mark>{' '}
        </Fragment>
      ))}
      {!open && all.length > most && (
        <button type="button" class="quiet" onClick={() => setOpen(true)}>
          all {plural(all.length, 'target')}
        </button>
      )}
    </>
  )
}

/** Targets are those of a name before (del) or after (ins) a change: first the ones that go or come, marked as such, then the ones that stay. */
export function Targets({ as, all, other }: { as: 'ins' | 'del'; all: string[]; other: string[] }) {
  const staying = all.filter((target) => other.includes(target))
  return all.length > 0 ? (
    <>
      <Marked as={as} all={all.filter((target) => !other.includes(target))} />
      <Text>{staying.join(' ')}</Text>
    </>
  ) : (
    <span class="muted">none</span>
  )
}
