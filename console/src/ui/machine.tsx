import type { FleetItem } from '../api/types'
import { link } from '../lib/route'
import { plural } from '../lib/text'
import { TruthBadge } from './basics'
import { settingsLink, Told } from './subject'

/** Labels are those of a cluster. */
export function Labels({ of }: { of: string[] | undefined }) {
  if (!of || of.length === 0) return null
  return (
    <div class="labels">
      {of.map((label) => (
        <span key={label}>{label}</span>
      ))}
    </div>
  )
}

/** External is a program that publishes names of a provider: an external-dns, or the built-in publisher. brief leaves out its message and its counts but one. */
export function External({ item, brief = false }: { item: FleetItem; brief?: boolean }) {
  return (
    <>
      <a href={link(['names'], { project: item.project, provider: item.provider })}>
        {item.project}/{item.provider}
      </a>{' '}
      <TruthBadge of="available" is={item.healthy} />{' '}
      <span class="muted">
        {plural(item.hosts.total, 'name')}
        {item.scope === 'cluster' && ' for clients in the cluster'}
        {!brief && `, not published, or not known: ${item.hosts.unpublished}`}
      </span>{' '}
      {!brief && (
        <>
          <a href={settingsLink(`projects/${item.project}/dns-update-records/${item.provider}`)}>settings</a> <Told>{item.message ?? ''}</Told>
        </>
      )}
    </>
  )
}

const most = 5 // external-dns of a cluster that are shown before somebody asks for all

/** Publishers are the external-dns of a cluster, the worst first. */
export function Publishers({ all }: { all: FleetItem[] }) {
  const list = (some: FleetItem[]) => (
    <ul class="plain small">
      {some.map((item) => (
        <li key={`${item.project}/${item.provider}/${item.scope}`}>
          <External item={item} brief />
        </li>
      ))}
    </ul>
  )
  if (all.length === 0) return <span class="muted">–</span>
  return (
    <>
      {list(all.slice(0, most))}
      {all.length > most && (
        <details class="small">
          <summary>{all.length - most} more</summary>
          {list(all.slice(most))}
        </details>
      )}
    </>
  )
}
