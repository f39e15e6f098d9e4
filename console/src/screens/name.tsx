import { useQuery } from '@tanstack/react-query'
import { api, ask, Refusal } from '../api/client'
import type { NameExplanation } from '../api/types'
import { cli, curl } from '../lib/commands'
import { link } from '../lib/route'
import { verdict } from '../lib/verdict'
import { Badge, Copy, Empty, Fault, Loading, Text } from '../ui/basics'
import { OwnerLink, Told } from '../ui/subject'
import { mayChange, Owner } from './nameowner'
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
        {tab !== 'timeline' && <Copy curl={curl('GET', `/v2/names/${encodeURIComponent(host)}`)} cli={cli('whois', host)} />}
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

/** Locked says once which owners the user may not change. */
export function Locked({ owners }: { owners: Pick<NameExplanation['owners'][number], 'owner' | 'project'>[] }) {
  const locked = owners.filter((o) => !mayChange(o))
  if (locked.length === 0) return null
  if (locked.length === owners.length) return <p class="muted small">You may look at it, not change it.</p>
  return (
    <p class="muted small">
      You may look at these, not change them:{' '}
      {locked.map((o, n) => (
        <>
          {n > 0 && ', '}
          <OwnerLink key={o.owner} path={o.owner} />
        </>
      ))}
      .
    </p>
  )
}

function Why({ name }: { name: NameExplanation }) {
  return (
    <>
      <p class={`verdict ${verdict(name).tone}`}>
        <Told>{name.summary}</Told>
      </p>
      {name.others && <p class="muted">A project that you may not read has this name{name.owners.length > 0 ? ', too' : ''}.</p>}
      <Locked owners={name.owners} />
      {name.owners.map((owner) => (
        <Owner key={owner.owner} owner={owner} host={name.name} />
      ))}
    </>
  )
}
