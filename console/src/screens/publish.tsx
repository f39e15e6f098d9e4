import { useQuery } from '@tanstack/react-query'
import { Refusal, request } from '../api/client'
import { caller, may } from '../api/session'
import type { DNSName, Event } from '../api/types'
import { documentAt } from '../lib/changes'
import { emptyForm, formOf } from '../lib/form'
import { granters } from '../lib/hints'
import { link, route } from '../lib/route'
import { Empty, Fault, Loading } from '../ui/basics'
import { ClusterForm } from './addcluster'
import { ProviderForm } from './addprovider'
import { Form } from './publishform'

export function PublishScreen() {
  const what = route.value.query.get('what') ?? 'name'
  if (!may(caller.value, 'editor', '*'))
    return (
      <Empty title="Your role does not allow this.">
        <p>To publish needs the role operator in a project, or editor if the project says so. {granters}</p>
      </Empty>
    )
  const tabs = [
    ['name', 'A name'],
    ['provider', 'A provider'],
    ['cluster', 'A cluster'],
  ] as const
  return (
    <>
      <nav class="tabs" aria-label="What to publish">
        {tabs.filter(([key]) => key !== 'cluster' || may(caller.value, 'admin')).map(([key, label]) => (
          <a key={key} href={link(['publish'], { what: key })} aria-current={what === key ? 'page' : undefined}>
            {label}
          </a>
        ))}
      </nav>
      {what === 'provider' ? <ProviderForm /> : what === 'cluster' ? <ClusterForm /> : <Load />}
    </>
  )
}

const latest = '500' // events in which an earlier document is looked for

/** Load reads a name that is to be changed; with a release, also its document of then. */
function Load() {
  const q = route.value.query
  const [project, host, release] = [q.get('project') ?? '', q.get('name') ?? '', Number(q.get('release') ?? 0)]
  const stored = useQuery({
    queryKey: ['stored', project, host],
    enabled: Boolean(project && host),
    retry: false,
    staleTime: Infinity,
    gcTime: 0,
    meta: { live: false },
    queryFn: async ({ signal }) => {
      try {
        return await request<DNSName>('GET', `/v2/projects/${encodeURIComponent(project)}/names/${encodeURIComponent(host)}`, { signal })
      } catch (error) {
        if (error instanceof Refusal && [400, 403, 404].includes(error.status)) return null // the form says what is wrong with the link
        throw error
      }
    },
  })
  const earlier = useQuery({
    queryKey: ['earlier', project, host, release],
    enabled: Boolean(project && host && release),
    retry: false,
    staleTime: Infinity,
    gcTime: 0,
    meta: { live: false },
    queryFn: async ({ signal }) => {
      const { items } = await request<{ items: Event[] }>('GET', `/v2/projects/${encodeURIComponent(project)}/events`, { query: { limit: latest }, signal })
      return documentAt(items, `projects/${project}/names/${host}`, release) ?? null
    },
  })
  const fault = stored.error ?? earlier.error
  if (fault) return <Fault error={fault} />
  if ((project && host && stored.data === undefined) || (release && earlier.data === undefined)) return <Loading what="the name" />
  if (release && !earlier.data)
    return (
      <Empty title={`The document of release ${release} cannot be read from the latest ${latest} events of the project.`}>
        <p>
          <a href={link(['publish'], { project, name: host })}>Change the name as it is now</a>
        </p>
      </Empty>
    )
  const shown = earlier.data ?? stored.data
  return <Form key={`${project}/${host}/${release}`} release={release} stored={stored.data ?? undefined} from={shown ?? undefined} start={shown ? formOf(project, { ...shown, metadata: { ...shown.metadata, name: host } }) : { ...emptyForm, project, name: host }} />
}
