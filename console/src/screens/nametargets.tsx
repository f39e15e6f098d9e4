import type { NameOwner, Source } from '../api/types'
import { answersOf } from '../lib/advice'
import { clusterPath } from '../lib/words'
import { Badge, Section, Table, Text, Time, toneOf } from '../ui/basics'
import { ClusterLink, Told } from '../ui/subject'

export function Targets({ owner }: { owner: NameOwner }) {
  const rows = owner.records.flatMap((r) =>
    r.targets.flatMap((target) => {
      const sources: (Source | undefined)[] = r.sources.filter((s) => s.target === target)
      return (sources.length > 0 ? sources : [undefined]).map((source) => ({ r, target, source }))
    }),
  )
  return (
    <Section title="Published targets" id={`targets-${owner.owner}`}>
      {rows.length === 0 ? (
        <p class="muted">None. {owner.records.some((r) => r.rejected.length > 0) ? '“Left out” below says why.' : 'The sentence at the top says why.'}</p>
      ) : (
        <Table label="Published targets" head={['Type', 'Target', 'Cluster', 'Object', 'Field', 'Provider']}>
          {rows.map(({ r, target, source }, i) => (
            <tr key={i}>
              <td>{r.type}</td>
              <td class="mono">
                <Text>{target}</Text>
              </td>
              <td>{source?.cluster && source.kind !== 'fixed' ? <ClusterLink cluster={source.cluster} /> : source ? 'fixed' : '–'}</td>
              <td>
                {source?.object === owner.owner ? 'the document of the name' : <Text>{source ? source.object || owner.owner : '–'}</Text>}
              </td>
              <td class="mono small">
                <Text>{source ? source.field + (source.via ? ` (via ${source.via})` : '') : ''}</Text>
              </td>
              <td>{r.record}</td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  )
}

export function LeftOut({ owner }: { owner: NameOwner }) {
  const rows = owner.records.flatMap((r) => r.rejected.map((rejected) => ({ r, rejected })))
  if (rows.length === 0) return null
  return (
    <Section title="Left out" id={`left-${owner.owner}`}>
      <Table label="What is left out, and why" head={['Candidate', 'Why', 'Cluster', 'Object', 'Field']}>
        {rows.map(({ rejected }, i) => (
          <tr key={i}>
            <td class="mono">
              <Text>{rejected.target}</Text>
            </td>
            <td>
              <Told>{rejected.reason}</Told>
            </td>
            <td>
              <ClusterLink cluster={rejected.cluster} />
            </td>
            <td>
              <Text>{rejected.object}</Text>
            </td>
            <td class="mono small">
              <Text>{rejected.field}</Text>
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  )
}

const probed = { True: 'answers', False: 'fails', Unknown: 'not known, counts as healthy' } as Record<string, string>

/** Probes are the results of the requests that a worker sends to each address. */
export function Probes({ owner }: { owner: NameOwner }) {
  const rows = owner.records.flatMap((r) => (r.probes ?? []).map((probe) => ({ r, probe })))
  if (rows.length === 0) return null
  return (
    <Section title="Probes of the addresses" id={`probes-${owner.owner}`}>
      <Table label="Probes of the addresses" head={['Address', 'Result', 'Since', 'From', 'Message']}>
        {rows.map(({ r, probe }) => (
          <tr key={r.type + r.record + probe.target}>
            <td class="mono">
              <Text>{probe.target}</Text>
            </td>
            <td>
              <Badge tone={toneOf(probe.healthy)}>{probed[probe.healthy] ?? probe.healthy}</Badge>
            </td>
            <td>
              <Time at={probe.since} />
            </td>
            <td>{clusterPath(probe.from ?? '–')}</td>
            <td>
              <Told>{probe.message ?? '–'}</Told>
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  )
}

export function Answers({ owner }: { owner: NameOwner }) {
  const rows = answersOf(owner.records)
  return (
    <Section title="Authoritative servers" id={`answers-${owner.owner}`}>
      {rows.length === 0 ? (
        <p class="muted">
          <Told>{owner.records.flatMap((r) => r.conditions).find((c) => c.type === 'Verified' && c.message)?.message ?? 'No server has been asked yet.'}</Told>
        </p>
      ) : (
        <Table label="Answers of authoritative servers" head={['Server', 'Type', 'Answer', 'TTL', 'Asked', 'Verdict']}>
          {rows.map(({ type, answer }, i) => (
            <tr key={i}>
              <td class="mono">
                <Text>{answer.server}</Text>
              </td>
              <td>{type}</td>
              <td class="mono">
                <Text>{answer.targets?.join(' ') || answer.rcode || 'no answer'}</Text>
              </td>
              <td>{answer.ttl ?? '–'}</td>
              <td>
                <Time at={answer.at} />
              </td>
              <td>
                {answer.message ? (
                  <Badge tone="bad">
                    <Told>{answer.message}</Told>
                  </Badge>
                ) : (
                  <Badge tone="good">right</Badge>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  )
}
