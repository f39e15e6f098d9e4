import { cli, curl } from '../lib/commands'
import { Copy } from '../ui/basics'
import { Leaving, Refused } from './troubleevents'
import { Machines } from './troublemachines'
import { kinds, Names } from './troublenames'
import { Things } from './troublethings'

/** TroubleScreen lists what needs somebody, and what to do about it. */
export function TroubleScreen() {
  return (
    <>
      <div class="bar">
        <h1>Trouble</h1>
        <Copy curl={curl('GET', '/v2/names?sort=worst')} cli={cli('find', '--worst')} />
      </div>
      <p class="muted small">The number in the menu counts what is urgent: unreachable clusters, dead publishers, conflicts, held removals, and names that failed, are not published, or are answered otherwise.</p>
      <div class="troubles">
        <Machines />
        <Things />
        <Leaving />
        {kinds.map((kind) => (
          <Names key={kind.key} kind={kind} />
        ))}
        <Refused />
      </div>
    </>
  )
}
