import { kindOf, ownerWord, projectOf } from '../lib/commands'
import type { Drain } from '../lib/failover'
import { link } from '../lib/route'
import { visible } from '../lib/text'
import { clock, exact } from '../lib/time'
import { clusterPath, inWords, withClusters, withTimes } from '../lib/words'
import { Text, Time } from './basics'

/** Subject is a document that an event is about, with the way to its page if it has one. */
export function Subject({ path }: { path: string }) {
  const kind = kindOf(path)
  const [, provider = '', , name = ''] = path.split('/')
  if (kind === 'name') return <NameLink name={name} />
  if (kind === 'cluster') return <ClusterLink cluster={`${provider}/${name}`} />
  if (kind === 'group') return <a href={groupLink(path)}>{named(path)}</a>
  if (kind === 'provider') return <a href={settingsLink(path)}>{named(path)}</a>
  return <Text>{named(path)}</Text>
}

/** groupLink leads to a group in the list of those of its project. */
export const groupLink = (path: string) => link(['groups'], { project: projectOf(path), group: ownerWord(path) })

/** settingsLink leads to the document of a provider or a cluster. */
export const settingsLink = (path: string) => link(['settings', ...path.split('/')])

/** OwnerLink is what gives a name: a group, with the way to it, or a project, with the way to its names. */
export function OwnerLink({ path }: { path: string }) {
  if (kindOf(path) !== 'name') return <a href={groupLink(path)}>{ownerWord(path)}</a>
  return <a href={link(['names'], { project: projectOf(path) })}>{projectOf(path)}</a>
}

/** named is a document in words, as in provider lab of shop, or dns-intents/www of shop/store/v1/prod. */
export function named(path: string): string {
  const kind = kindOf(path)
  const last = path.split('/').at(-1) ?? path
  if (kind === 'project') return `project ${last}`
  if (kind === 'group') return `group ${ownerWord(path)}`
  if (kind === 'cluster') return `cluster ${path.split('/')[1]}/${last}`
  if (kind === 'provider' || kind === 'logical cloud') return `${kind} ${last} of ${projectOf(path)}`
  const [, app, version] = /^projects\/[^/]+\/composite-apps\/([^/]+)\/([^/]+)$/.exec(path) ?? []
  if (app) return `composite app ${app}/${version} of ${projectOf(path)}`
  if (/^cluster-providers\/[^/]+$/.test(path)) return `cluster provider ${last}`
  const [, group, rest] = /^(projects\/[^/]+\/composite-apps\/[^/]+\/[^/]+\/deployment-intent-groups\/[^/]+)\/(.+)$/.exec(path) ?? []
  return group && rest ? `${rest.split('/').slice(-2).join('/')} of group ${ownerWord(group)}` : path
}

/** NameLink is a host name with the way to its page. */
export function NameLink({ name }: { name: string }) {
  return (
    <a href={link(['names', name])}>
      <bdi>{visible(name)}</bdi>
    </a>
  )
}

/** ClusterLink is a cluster with the way to its page, however an answer spells it. */
export function ClusterLink({ cluster }: { cluster: string }) {
  const path = clusterPath(cluster)
  return path.includes('/') ? <a href={link(['fleet', ...path.split('/')])}>{path}</a> : <>{path}</>
}

/** By is who changed a cluster, with the way to the failover if it was one, when, and why. */
export function By({ failover, actor, since, reason }: { failover?: string | undefined; actor: string; since?: string; reason?: string | undefined }) {
  return (
    <>
      by{' '}
      {failover && (
        <>
          <a href={link(['failover', failover])}>a failover</a> of{' '}
        </>
      )}
      <Text>{actor}</Text>
      {since && (
        <>
          , <Time at={since} />
        </>
      )}
      {reason && (
        <>
          : <Text>{reason}</Text>
        </>
      )}
    </>
  )
}

/** DrainedBy tells who took the addresses of a name out, and leads to the failover if it was one. said tells that the sentence before names the drain. */
export function DrainedBy({ drain, said }: { drain: Drain | undefined; said: boolean }) {
  if (!drain) return null
  return (
    <>
      {said ? (drain.one ? '. Drained ' : '. The last one was drained ') : `. All its clusters are drained, ${drain.one ? '' : 'the last one '}`}
      <By {...drain} />
    </>
  )
}

/** Told is a sentence of the server, in which each cluster leads to its page, buttons stand for flags, and times are of the user's zone. */
export function Told({ children }: { children: string }) {
  return <>{withClusters(children).map((part, i) => (i % 2 === 1 ? <ClusterLink key={i} cluster={part} /> : <Timed key={i}>{part}</Timed>))}</>
}

/** Timed is a text, in which times are of the user's zone. */
function Timed({ children }: { children: string }) {
  return (
    <>
      {withTimes(children).map((part, i) =>
        i % 2 === 1 ? (
          <time key={i} dateTime={part} title={exact(part)}>
            {clock(part)}
          </time>
        ) : (
          <Text key={i} most={2000}>
            {inWords(part)}
          </Text>
        ),
      )}
    </>
  )
}

/** Warnings are what the server remarks of a stored provider. */
export function Warnings({ of }: { of: { parameter: string; message: string }[] }) {
  if (of.length === 0) return null
  return (
    <ul class="notice">
      {of.map((w, i) => (
        <li key={i}>
          <code>{w.parameter}</code> <Told>{w.message}</Told>
        </li>
      ))}
    </ul>
  )
}

/** NamesTabs leads from the list of names to the groups, and back. */
export function NamesTabs({ here }: { here: 'names' | 'groups' }) {
  return (
    <nav class="tabs" aria-label="Names and groups">
      <a href={link(['names'])} aria-current={here === 'names' ? 'page' : undefined}>
        All names
      </a>
      <a href={link(['groups'])} aria-current={here === 'groups' ? 'page' : undefined}>
        Groups
      </a>
    </nav>
  )
}
