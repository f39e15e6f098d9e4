import type { FleetItem } from '../api/types'
import { link } from '../lib/route'
import { plural } from '../lib/text'
import { Badge, TruthBadge } from './basics'
import { Told } from './subject'

/** Labels are those of a cluster. */
export function Labels({ of }: { of: string[] | undefined }) {
  if (!of || of.length === 0) return null
  return (
    <div class="labels">
      {of.map((label) => (
        <Badge key={label} tone="plain">
          {label}
        </Badge>
      ))}
    </div>
  )
}

/** External is a program that publishes names of a provider: an external-dns, or the built-in publisher. */
export function External({ item }: { item: FleetItem }) {
  return (
    <p>
      <a href={link(['names'], { project: item.project, provider: item.provider })}>
        {item.project}/{item.provider}
      </a>{' '}
      <TruthBadge of="available" is={item.healthy} /> <span class="muted">{plural(item.hosts.total, 'name')}, publication not confirmed for {item.hosts.unpublished}</span> <Told>{item.message ?? ''}</Told>
    </p>
  )
}
