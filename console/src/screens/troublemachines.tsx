import { useFailing } from '../api/fleet'
import { builtIn } from '../lib/chain'
import { cli } from '../lib/commands'
import { link } from '../lib/route'
import { plural } from '../lib/text'
import { CopyButton, Fault, Loading, Time } from '../ui/basics'
import { Part } from '../ui/part'
import { ClusterLink, Told } from '../ui/subject'

/** Machines are clusters and external-dns that do not do their part. */
export function Machines() {
  const failing = useFailing()
  if (!failing.data) return failing.error ? <Fault error={failing.error} /> : <Loading what="the fleet" />
  const lost = failing.data.items.filter((i) => i.kind === 'cluster')
  const dead = failing.data.items.filter((i) => i.kind === 'externalDNS')
  return (
    <>
      <Part title="Unreachable clusters" n={lost.length} tone="bad" id="lost" means="clusters that do not answer" advice="Five minutes after the loss its addresses leave names that have another healthy cluster; other names keep theirs. Check network and credentials by the preflight of the cluster. If it never comes back, give it up by signpost abandon.">
        <ul class="plain">
          {lost.map((i) => (
            <li key={i.cluster}>
              <ClusterLink cluster={i.cluster} />, <a href={link(['names'], { cluster: i.cluster })}>{plural(i.hosts.total, 'name')}</a>{' '}
              {i.unreachableSince && (
                <span class="muted">
                  since <Time at={i.unreachableSince} />
                </span>
              )}{' '}
              <CopyButton label="Copy preflight as CLI" text={cli('preflight', i.cluster)} />
              <Message text={i.message} />
            </li>
          ))}
        </ul>
      </Part>
      <Part title="Dead publishers" n={dead.length} tone="bad" id="dead" means="external-dns, and the built-in publisher, that are not available" advice="External-dns, or the built-in publisher, is not available. Changes of these names wait. If the message is not enough, look at the log of external-dns in its cluster, or of Signpost for the built-in publisher.">
        <ul class="plain">
          {dead.map((i) => (
            <li key={i.cluster + i.project + i.provider + i.scope}>
              <a href={link(['names'], { project: i.project, provider: i.provider })}>
                {i.project}/{i.provider}
              </a>{' '}
              in {i.cluster === builtIn ? 'Signpost' : <ClusterLink cluster={i.cluster} />} <span class="muted">{plural(i.hosts.total, 'name')}</span>
              <Message text={i.message} />
            </li>
          ))}
        </ul>
      </Part>
    </>
  )
}

/** Message is what a machine says of itself, if it says something. */
function Message({ text }: { text: string | undefined }) {
  return text ? (
    <div class="small">
      <Told>{text}</Told>
    </div>
  ) : null
}
