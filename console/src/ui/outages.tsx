import type { NameOutage } from '../api/types'
import { Time } from './basics'
import { ClusterLink, Told } from './subject'

/** Outages says which clusters of a name cannot be reached, and what that does to the name. */
export function Outages({ all }: { all: NameOutage[] | undefined }) {
  if (!all || all.length === 0) return null
  return (
    <>
      {all.map((o) => (
        <div key={o.cluster} class="fault">
          <p>
            <b>
              <ClusterLink cluster={o.cluster} /> cannot be reached
            </b>{' '}
            since <Time at={o.since} />
            {o.message && (
              <>
                : <Told>{o.message}</Told>
              </>
            )}
          </p>
          <ul>
            {o.effect.split('; ').map((effect) => (
              <li key={effect}>
                <Told>{effect}</Told>.
              </li>
            ))}
          </ul>
        </div>
      ))}
    </>
  )
}
