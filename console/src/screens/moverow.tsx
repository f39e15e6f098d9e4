import { useQuery } from '@tanstack/react-query'
import { useState } from 'preact/hooks'
import { request } from '../api/client'
import { caller, may } from '../api/session'
import { kindOf } from '../lib/commands'
import { answered, changing, leftWord, titleOf, type Failover } from '../lib/failover'
import { isCut, turnedOf, type Move, type Turned } from '../lib/moved'
import { link } from '../lib/route'
import { plural } from '../lib/text'
import { Badge, Text } from '../ui/basics'
import { Subject, Told } from '../ui/subject'
import { Marked } from '../ui/targets'
import { states } from './failoverrecord'

const mostNames = 5 // that a row shows before somebody asks for all

/** recordOf asks for the record of a failover, with its names. */
export const recordOf = (id: string, enabled: boolean) => ({
  queryKey: ['failover', id],
  enabled,
  retry: false,
  staleTime: 5_000,
  refetchInterval: (query: { state: { data: Failover | undefined } }): number | false => (query.state.data?.state === 'Moving' ? 2_000 : false),
  queryFn: ({ signal }: { signal: AbortSignal }): Promise<Failover> => request<Failover>('GET', `/v2/failovers/${encodeURIComponent(id)}`, { signal }),
})

/** MoveRow is a failover in the list of changes: its clusters, who asked for it and why, the names that it has moved, and what undid it. Names that have the text about come first. followers are the groups and names that it drained or undrained; first tells that its names are read at once. */
export function MoveRow({ move, followers, undoneBy, first, about }: { move: Move; followers: string[]; undoneBy: string | undefined; first: boolean; about: string }) {
  const known = !isCut(move) // else the user may not read the record
  const [opened, setOpened] = useState(false)
  const record = useQuery(recordOf(move.id, known && (first || opened))).data
  const state = record?.state ?? (move.state in states ? (move.state as Failover['state']) : undefined)
  const undoer = record?.revertedBy ?? undoneBy
  const undone = record?.revertOf ?? move.revertOf
  const reason = undone ? '' : (record?.reason ?? move.reason)
  const title = known ? titleOf({ drained: move.drained, undrained: move.undrained, ...(undone ? { revertOf: undone } : {}) }) : 'Failover'
  const way = link(['failover', move.id])
  return (
    <div>
      <span class="strong">{known ? <a href={way}>{title}</a> : title}</span> by <Text>{move.actor}</Text> {state && <Badge tone={states[state]}>{state}</Badge>}{' '}
      {reason && (
        <>
          Reason: <Text>{reason}</Text>.{' '}
        </>
      )}
      {!known && !may(caller.value, 'viewer') && <span class="muted small">Only users with rights in all projects see all its clusters and its reason. </span>}
      {undone && (
        <>
          It undoes an <a href={link(['failover', undone])}>earlier failover</a>.{' '}
        </>
      )}
      {undoer && (
        <>
          Undone by <a href={link(['failover', undoer])}>another failover</a> since.{' '}
        </>
      )}
      {record ? <Turns names={firstOf(turnedOf(record.names), about)} hosts={changing(record)} said={saidOf(record)} way={way} left={record.namesLeftOut ?? 0} /> : <Hosts move={move} />}
      <Followers paths={followers} />
      {known && !first && !opened && (
        <button type="button" class="quiet" onClick={() => setOpened(true)}>
          Show the names that it changed
        </button>
      )}
      {state && ['Failed', 'Superseded', 'Unconfirmed'].includes(state) && !undoer && (
        <span class="small">
          {' '}
          <Told>{record?.message ?? move.message}</Told>
        </span>
      )}
    </div>
  )
}

/** firstOf has the names first that have a text. */
function firstOf(names: Turned[], about: string): Turned[] {
  const text = about.trim().toLowerCase()
  return [...names.filter((n) => n.name.includes(text)), ...names.filter((n) => !n.name.includes(text))]
}

/** saidOf says how many names a failover has moved, how many of them are answered, and how many have no address. */
function saidOf(r: Failover): string {
  const words = answered(r)
  return [words && `${plural(changing(r), 'name changed', 'names changed')}; ${words}.`, leftWord(r)].filter(Boolean).join(' ')
}

/** Turns are the names that a failover has moved, from and to which targets. */
function Turns({ names, hosts, said, way, left }: { names: Turned[]; hosts: number; said: string; way: string; left: number }) {
  const [all, setAll] = useState(false)
  if (names.length === 0) return <span class="small">No name changed.</span>
  return (
    <>
      <span class="small">
        {said}
      </span>
      <ul class="changes">
        {(all ? names : names.slice(0, mostNames)).map((n) => (
          <li key={n.owner + n.name + n.type} class="mono">
            <a href={link(['names', n.name])}>
              <bdi>{n.name}</bdi>
            </a>{' '}
            {kindOf(n.owner) === 'group' && (
              <span class="muted">
                of <Subject path={n.owner} />{' '}
              </span>
            )}
            <span class="muted">{n.type}</span>{' '}
            <Marked as="del" all={n.removed} />
            <Marked as="ins" all={n.added} />
          </li>
        ))}
      </ul>
      {!all && names.length > mostNames && (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          Show all {hosts === names.length && left === 0 ? plural(hosts, 'name') : `${plural(names.length, 'record')} of these names`}
        </button>
      )}
      {left > 0 && (
        <span class="muted small">
          {plural(left, 'record')} more than <a href={way}>the failover</a> lists.
        </span>
      )}
    </>
  )
}

/** Followers are the groups and names whose addresses a failover drained or undrained, to be opened. */
function Followers({ paths }: { paths: string[] }) {
  if (paths.length === 0) return null
  const isGroup = (path: string) => kindOf(path) === 'group'
  const groups = paths.filter(isGroup).sort()
  const names = paths.filter((path) => !isGroup(path)).sort()
  return (
    <details class="small">
      <summary>{[groups.length > 0 ? plural(groups.length, 'group') : '', names.length > 0 ? plural(names.length, 'name') : ''].filter(Boolean).join(' and ')} followed</summary>
      <ul class="plain">
        {[...groups, ...names].map((path) => (
          <li key={path}>
            <Subject path={path} />
          </li>
        ))}
      </ul>
    </details>
  )
}

/** Hosts are the names that were seen to be answered, for users who may not read the failover. */
function Hosts({ move }: { move: Move }) {
  if (move.hosts.length === 0) return null
  return (
    <span class="small">
      {plural(move.hosts.length, 'name changed', 'names changed')}:{' '}
      {move.hosts.slice(0, mostNames).map((host, n) => (
        <>
          {n > 0 && ', '}
          <a href={link(['names', host])}>{host}</a>
        </>
      ))}
      {move.hosts.length > mostNames && ` and ${move.hosts.length - mostNames} more`}.
    </span>
  )
}
