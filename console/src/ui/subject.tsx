import { kindOf, ownerWord, projectOf } from '../lib/commands'
import { link } from '../lib/route'
import { visible } from '../lib/text'
import { clock, exact } from '../lib/time'
import { clusterPath, inWords, withClusters, withTimes } from '../lib/words'
import { Text } from './basics'

/** Subject is a document that an event is about, with the way to its page if it has one. */
export function Subject({ path }: { path: string }) {
  const kind = kindOf(path)
  const [, provider = '', , name = ''] = path.split('/')
  if (kind === 'name') return <NameLink name={name} />
  if (kind === 'cluster') return <ClusterLink cluster={`${provider}/${name}`} />
  if (kind === 'group') return <a href={link(['groups'], { project: projectOf(path) })}>{named(path)}</a>
  return <Text>{named(path)}</Text>
}

/** named is a document in words, as in provider lab of shop, or dns-intents/www of shop/store/v1/prod. */
export function named(path: string): string {
  const kind = kindOf(path)
  const last = path.split('/').at(-1) ?? path
  if (kind === 'project') return `project ${last}`
  if (kind === 'group') return `group ${ownerWord(path)}`
  if (kind === 'provider' || kind === 'logical cloud') return `${kind} ${last} of ${projectOf(path)}`
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
