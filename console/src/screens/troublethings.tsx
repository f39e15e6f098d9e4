import { useQuery } from '@tanstack/react-query'
import { useState } from 'preact/hooks'
import { request } from '../api/client'
import type { Trouble, TroublePage } from '../api/types'
import { cli, curl, kindOf } from '../lib/commands'
import { link } from '../lib/route'
import { plural } from '../lib/text'
import { alikeOf, isHeldName, keyOf } from '../lib/trouble'
import { Copy, Fault, Loading, Text, Time, type Tone } from '../ui/basics'
import { Part } from '../ui/part'
import { ClusterLink, Subject, Told } from '../ui/subject'

const most = 50 // entries of a kind

/** things are the kinds of trouble that one list of the server has, and what to do about each. */
const things: { kind: Trouble['kind']; title: string; tone: Tone; means: string; advice: string }[] = [
  { kind: 'conflict', title: 'Conflicts', tone: 'bad', means: 'objects that a cluster refuses, or that somebody else has', advice: 'The cluster refuses an object, or an object of somebody else is in its place. Signpost never touches that one. Rename or remove the other object, or grant what the message asks for; Signpost tries again by itself.' },
  { kind: 'pending', title: 'Objects on their way', tone: 'wait', means: 'objects that a cluster does not have yet as they are wanted', advice: 'The cluster does not have these objects as they are wanted yet. If this lasts, the preflight of the cluster shows whether it answers and which right is missing.' },
  { kind: 'held', title: 'Held removals', tone: 'note', means: 'names that stay, because too many would go at once', advice: 'Too many names would go at once (maxRemoval), so they stay published as they are. Bring back the Services that they lead to. Only if the names are to go, confirm the plan that unpublishes them, or that deploys their group.' },
  { kind: 'leftover', title: 'Leftovers', tone: 'note', means: 'names that stayed in DNS after their owner was terminated', advice: 'These names stayed in DNS after their owner was terminated. Delete them at the DNS provider, or publish them again and unpublish them once external-dns works.' },
]

/** Things are objects in conflict, removals that are held, and names that stayed behind. */
export function Things() {
  const found = useQuery({
    queryKey: ['troubles'],
    refetchInterval: 10_000,
    queryFn: ({ signal }) => request<TroublePage>('GET', '/v2/troubles', { query: { limit: '200' }, signal }),
  })
  if (!found.data) return found.error ? <Fault error={found.error} /> : <Loading what="conflicts and leftovers" />
  const { items, counts } = found.data
  return (
    <>
      {things.map(({ kind, title, tone, means, advice }) => {
        const all = items.filter((t) => t.kind === kind)
        const entries = alikeOf(all).slice(0, most)
        const shown = entries.reduce((n, some) => n + some.length, 0)
        const total = counts[kind] ?? 0
        return (
          <Part key={kind} title={title} n={total} tone={tone} id={kind} means={means} advice={advice}>
            <ul class="plain">
              {entries.map((some, i) => (
                <li key={keyOf(some) ?? i}>{some.length > 1 ? <HeldNames troubles={some} /> : some.map((t) => <Thing key={t.owner} trouble={t} />)}</li>
              ))}
            </ul>
            {total > shown && (
              <p class="muted">
                {plural(total - shown, 'more', 'more')}. <Copy curl={curl('GET', '/v2/troubles')} />
              </p>
            )}
          </Part>
        )
      })}
    </>
  )
}

const mostNames = 5 // of an entry, before somebody asks for all

/** HeldNames are names of one provider that stay for the same reason. */
function HeldNames({ troubles }: { troubles: Trouble[] }) {
  const [all, setAll] = useState(false)
  const [first] = troubles
  const since = troubles.flatMap((t) => t.since ?? []).sort()[0]
  return (
    <>
      <b>{plural(troubles.length, 'name')}</b> by {first?.provider} of {first?.project}{' '}
      {since && (
        <span class="muted">
          since <Time at={since} />
        </span>
      )}{' '}
      <Told>{first?.message ?? ''}</Told>
      <ul class="plain">
        {(all ? troubles : troubles.slice(0, mostNames)).map((t) => (
          <li key={t.owner}>
            <Subject path={t.owner ?? ''} />{' '}
            <a class="button" href={link(['plan'], { owner: t.owner, for: 'delete' })}>
              Plan unpublish
            </a>
          </li>
        ))}
      </ul>
      {!all && troubles.length > mostNames && (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          Show all {plural(troubles.length, 'name')}
        </button>
      )}
    </>
  )
}

function Thing({ trouble: t }: { trouble: Trouble }) {
  const isName = isHeldName(t)
  return (
    <>
      {t.object && (
        <b>
          <Text>{t.object}</Text>
        </b>
      )}{' '}
      {t.cluster && (
        <>
          on <ClusterLink cluster={t.cluster} />
        </>
      )}
      {t.name && (
        <b>
          <Text>{t.name}</Text> {t.type}
        </b>
      )}
      {t.owner && isName && <Subject path={t.owner} />} {t.names !== undefined && !isName && <b>{plural(t.names, 'name')}</b>} {t.provider && `by ${t.provider} of ${t.project}`}{' '}
      {t.owner && !isName && (
        <>
          of <Subject path={t.owner} />
        </>
      )}{' '}
      {t.since && (
        <span class="muted">
          since <Time at={t.since} />
        </span>
      )}{' '}
      <Told>{t.message ?? ''}</Told>{' '}
      {t.kind === 'held' && kindOf(t.owner ?? '') === 'group' && (
        <a class="button" href={link(['plan'], { owner: t.owner, for: 'deploy' })}>
          Plan deploy
        </a>
      )}
      {isName && (
        <a class="button" href={link(['plan'], { owner: t.owner, for: 'delete' })}>
          Plan unpublish
        </a>
      )}
      {t.kind !== 'held' && t.cluster && <Copy cli={cli('preflight', t.cluster)} />}
    </>
  )
}
