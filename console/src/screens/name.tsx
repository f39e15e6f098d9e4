import { useQuery } from '@tanstack/react-query'
import { api, ask, Refusal } from '../api/client'
import { caller, may, settings } from '../api/session'
import type { NameExplanation, NameOwner, Source } from '../api/types'
import { builtIn } from '../lib/chain'
import { answersOf, changers, findingsOf, staying } from '../lib/advice'
import { apiPath, cli, curl, kindOf, ownerWord } from '../lib/commands'
import { link } from '../lib/route'
import { clusterPath } from '../lib/words'
import { verdict } from '../lib/verdict'
import { Badge, Copy, Empty, Fault, Loading, Section, stateTone, Table, Text, Time, toneOf } from '../ui/basics'
import { ChainView } from '../ui/chainview'
import { Outages } from '../ui/outages'
import { Pending } from '../ui/pending'
import { ClusterLink, Told } from '../ui/subject'
import { Timeline } from './timeline'

/** useName reads all that is known of a host name. */
export const useName = (host: string) =>
  useQuery({
    queryKey: ['name', host],
    queryFn: ({ signal }) => ask(api.GET('/v2/names/{host}', { params: { path: { host } }, signal })),
    refetchInterval: (query) => (query.state.data && verdict(query.state.data).tone === 'wait' ? 2000 : 15_000),
  })

export function NameScreen({ host, tab }: { host: string; tab: string }) {
  const name = useName(host)
  const gone = name.error instanceof Refusal && name.error.status === 404 // what was known of it before does not count
  const said = name.data && !gone ? verdict(name.data) : undefined
  return (
    <>
      <div class="bar">
        <h1>
          <Text>{host}</Text>
        </h1>
        {said && <Badge tone={said.tone}>{said.word}</Badge>}
        {tab !== 'timeline' && <Copy curl={curl('GET', `/v2/names/${encodeURIComponent(host)}`, undefined, settings.value.anonymous)} cli={cli('whois', host)} />}
      </div>
      <nav class="tabs" aria-label="About this name">
        <a href={link(['names', host])} aria-current={tab === '' ? 'page' : undefined}>
          Why
        </a>
        <a href={link(['names', host], { tab: 'timeline' })} aria-current={tab === 'timeline' ? 'page' : undefined}>
          Timeline
        </a>
      </nav>
      {tab === 'timeline' ? (
        <Timeline host={host} {...(name.data && !gone ? { owners: name.data.owners } : {})} />
      ) : name.data && !gone ? (
        <Why name={name.data} />
      ) : gone ? (
        <Empty title="No project publishes this name.">
          <p>
            <a href={link(['publish'], { name: host })}>Publish it</a>, or look at its <a href={link(['names', host], { tab: 'timeline' })}>timeline</a> if it has been there before.
          </p>
        </Empty>
      ) : name.error ? (
        <Fault error={name.error} />
      ) : (
        <Loading what="the name" />
      )}
    </>
  )
}

function Why({ name }: { name: NameExplanation }) {
  return (
    <>
      <p class={`verdict ${verdict(name).tone}`}>
        <Told>{name.summary}</Told>
      </p>
      {name.others && <p class="muted">A project that you may not read has this name{name.owners.length > 0 ? ', too' : ''}.</p>}
      {name.owners.map((owner) => (
        <Owner key={owner.owner} owner={owner} host={name.name} />
      ))}
    </>
  )
}

/** Owner is all that one owner does with the name. */
function Owner({ owner, host }: { owner: NameOwner; host: string }) {
  const isName = kindOf(owner.owner) === 'name'
  return (
    <article class="card" aria-label={owner.owner}>
      <div class="bar">
        <h2>
          Owner: {isName ? 'project' : 'group'} <a href={link([isName ? 'names' : 'groups'], { project: owner.project })}>{isName ? owner.project : ownerWord(owner.owner)}</a>
        </h2>
        <Badge tone={stateTone(owner.state)}>{owner.state}</Badge>
        <Actions owner={owner} host={host} />
      </div>
      <p class="muted">
        {isName ? 'A document of its own gives this name.' : 'A deployment intent group gives this name; it is written as project/composite app/version/group.'} Release {owner.release}
        {owner.actor && (
          <>
            {' '}
            was asked for by <Text>{owner.actor}</Text>
          </>
        )}
        {owner.accepted && (
          <>
            , <Time at={owner.accepted} />
          </>
        )}
        . {changers(owner)}
      </p>
      {owner.message && (
        <p class="notice">
          <Told>{owner.message}</Told>
        </p>
      )}
      <Outages all={owner.unreachable} />
      <Pending owner={owner.owner} host={host} />
      <ChainView owner={owner} />
      <Findings owner={owner} />
      <Staying owner={owner} />
      <Targets owner={owner} />
      <LeftOut owner={owner} />
      <Probes owner={owner} />
      <Answers owner={owner} />
      <Behind owner={owner} />
    </article>
  )
}

/** Findings are what is not in order, why, and what to do. */
function Findings({ owner }: { owner: NameOwner }) {
  const found = findingsOf(owner)
  if (found.length === 0) return null
  return (
    <Section title={found.some((f) => f.bad) ? 'Problems, and what to do' : 'Not known, and what to do'} id={`findings-${owner.owner}`}>
      <ul class="plain">
        {found.map((f) => (
          <li key={f.what + f.why}>
            <Badge tone={f.bad ? 'bad' : 'unknown'}>{f.what}</Badge> <Told>{f.why}</Told>. <span class="muted">{f.advice}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** Staying are addresses that stay although one of their clusters is left out. */
function Staying({ owner }: { owner: NameOwner }) {
  return (
    <>
      {staying(owner.records).map((s) => (
        <p key={s.target + s.cluster} class="notice">
          <span class="mono">{s.target}</span> of <ClusterLink cluster={s.cluster} /> is left out: <Told>{s.reason}</Told>. The address stays in DNS because {s.others.map(clusterPath).join(' and ')} {s.others.length === 1 ? 'gives' : 'give'} it, too.
        </p>
      ))}
    </>
  )
}

function Actions({ owner, host }: { owner: NameOwner; host: string }) {
  const who = caller.value
  const isName = kindOf(owner.owner) === 'name'
  if (!may(who, isName ? 'editor' : 'operator', owner.project)) return <span class="muted small">You may look at it, not change it.</span>
  return isName ? (
    <span class="actions">
      <a class="button" href={link(['publish'], { name: host, project: owner.project })}>
        Change
      </a>
      {owner.release > 1 && (
        <a class="button" href={link(['publish'], { name: host, project: owner.project, release: String(owner.release - 1) })}>
          Undo the last change
        </a>
      )}
      <a class="button risky" href={link(['plan'], { owner: owner.owner, for: 'delete' })}>
        Unpublish
      </a>
    </span>
  ) : (
    <span class="actions">
      {['deploy', ...(owner.release > 1 ? ['rollback'] : []), 'terminate'].map((action) => (
        <a key={action} class={action === 'terminate' ? 'button risky' : 'button'} href={link(['plan'], { owner: owner.owner, for: action })}>
          Plan {action}
        </a>
      ))}
    </span>
  )
}

function Targets({ owner }: { owner: NameOwner }) {
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
              <td>{source?.cluster && source.kind !== 'fixed' ? <ClusterLink cluster={source.cluster} /> : 'fixed'}</td>
              <td>
                <Text>{source?.object || owner.owner}</Text>
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

function LeftOut({ owner }: { owner: NameOwner }) {
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
function Probes({ owner }: { owner: NameOwner }) {
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

function Answers({ owner }: { owner: NameOwner }) {
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

/** Behind shows the documents, conditions and publishers behind the name. */
function Behind({ owner }: { owner: NameOwner }) {
  return (
    <details class="section">
      <summary>Documents, conditions and publishers</summary>
      <Table label="Documents that give the name" head={['Document', 'Deployed', 'Now', 'Read']}>
        {owner.documents.map((d) => (
          <tr key={d.path}>
            <td>
              <Text>{d.path}</Text>
            </td>
            <td>revision {d.revision}</td>
            <td>
              revision {d.current} {d.current !== d.revision && <Badge tone="wait">not deployed</Badge>}
            </td>
            <td>
              <Copy curl={curl('GET', apiPath(d.path), undefined, settings.value.anonymous)} cli={cli('get', d.path)} />
            </td>
          </tr>
        ))}
      </Table>
      <Table label="Conditions" head={['Type', 'Condition', 'Status', 'Why', 'Since']}>
        {owner.records.flatMap((r) =>
          r.conditions.map((c) => (
            <tr key={r.record + r.scope + r.type + c.type}>
              <td>
                {r.type} by {r.record}
              </td>
              <td>{c.type}</td>
              <td>
                <Badge tone={toneOf(c.status)}>{c.status}</Badge>
              </td>
              <td>
                <Told>{c.message ? `${c.reason}: ${c.message}` : c.reason}</Told>
              </td>
              <td>
                <Time at={c.lastTransitionTime} />
              </td>
            </tr>
          )),
        )}
      </Table>
      <Table label="Publishers" head={['Provider', 'Cluster', 'Version', 'Available', 'Last synchronization', 'Fault']}>
        {owner.externalDNS.map((e) => (
          <tr key={e.record + e.cluster + e.scope}>
            <td>{e.record}</td>
            <td>{e.cluster === builtIn ? 'Signpost' : <ClusterLink cluster={e.cluster} />}</td>
            <td>{e.version}</td>
            <td>
              <Badge tone={e.available === undefined ? 'unknown' : e.available ? 'good' : 'bad'}>{e.available === undefined ? 'cannot be observed' : e.available ? 'available' : 'not available'}</Badge>
            </td>
            <td>
              <Time at={e.lastSync} />
            </td>
            <td>
              <Told>{e.message || '–'}</Told>
            </td>
          </tr>
        ))}
      </Table>
    </details>
  )
}
