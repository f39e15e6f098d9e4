import { useQuery } from '@tanstack/react-query'
import { useState } from 'preact/hooks'
import { Refusal, request } from '../api/client'
import { useGroups, useProjects } from '../api/lists'
import { caller, may, settings } from '../api/session'
import type { Status } from '../api/types'
import { apiPath, cli, curl, ownerWord } from '../lib/commands'
import { go, link, route } from '../lib/route'
import { plural } from '../lib/text'
import { Badge, Copy, Empty, Fault, Loading, stateTone, Table, Text } from '../ui/basics'
import { undeployedOf } from '../ui/pending'
import { NamesTabs } from '../ui/subject'

const most = 50 // groups that are shown, and asked for their state, at once

/** GroupsScreen lists the deployment intent groups of a project. */
export function GroupsScreen() {
  const projects = useProjects()
  const chosen = route.value.query.get('project') ?? (projects.data?.length === 1 ? projects.data[0] : undefined) ?? ''
  const groups = useGroups(chosen)
  const [shown, setShown] = useState(most)
  return (
    <>
      <div class="bar">
        <h1>Groups</h1>
        {chosen && <Copy curl={curl('GET', `/v2/projects/${chosen}/composite-apps`, undefined, settings.value.anonymous)} cli={cli('get', 'groups', '--project', chosen)} />}
      </div>
      <NamesTabs here="groups" />
      <form class="filters" role="search" aria-label="Groups" onSubmit={(e) => e.preventDefault()}>
        <label>
          <span>Project</span>
          <select value={chosen} onChange={(e) => go(link(['groups'], { project: e.currentTarget.value }), true)}>
            <option value="">choose one</option>
            {[...new Set([...(projects.data ?? []), chosen].filter(Boolean))].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      </form>
      {projects.error && !chosen ? (
        <Fault error={projects.error} />
      ) : !chosen ? (
        <p class="muted">A group deploys the DNS intents of a composite app. Choose a project to see its groups.</p>
      ) : groups.error ? (
        <Fault error={groups.error} />
      ) : !groups.data ? (
        <Loading what="the groups" />
      ) : groups.data.length === 0 ? (
        <Empty title="The project has no deployment intent group.">
          <p>
            Its names are documents of their own: <a href={link(['names'], { project: chosen })}>its names</a>.
          </p>
        </Empty>
      ) : (
        <div class="card">
          <Table label="Groups of the project" head={['Group', 'State', 'Not deployed', 'Message', 'Actions']}>
            {groups.data.slice(0, shown).map((path) => (
              <Group key={path} path={path} project={chosen} />
            ))}
          </Table>
          {groups.data.length > shown && (
            <button type="button" class="quiet" onClick={() => setShown(shown + most)}>
              Show more of {groups.data.length.toLocaleString('en')}
            </button>
          )}
        </div>
      )}
    </>
  )
}

/** Group is a row: the state of a group, and what waits to be deployed. */
function Group({ path, project }: { path: string; project: string }) {
  const status = useQuery({
    queryKey: ['group', path],
    refetchInterval: 10_000,
    retry: false,
    queryFn: async ({ signal }) => {
      try {
        return await request<Status>('GET', apiPath(path, '/status'), { query: { view: 'summary' }, signal })
      } catch (error) {
        if (error instanceof Refusal && error.status === 404) return null
        throw error
      }
    },
  })
  const undeployed = useQuery(undeployedOf(path))
  const n = undeployed.data?.length ?? 0
  return (
    <tr>
      <td class="strong">
        <Text>{ownerWord(path)}</Text>
      </td>
      <td>{status.data ? <Badge tone={stateTone(status.data.state)}>{status.data.state}</Badge> : '–'}</td>
      <td>{n > 0 ? <Badge tone="wait">{plural(n, 'document')}</Badge> : 'none'}</td>
      <td>
        <Text>{status.data?.message || '–'}</Text>
      </td>
      <td>
        {may(caller.value, 'operator', project) ? (
          <span class="actions">
            {['deploy', 'rollback', 'terminate'].map((action) => (
              <a key={action} class={action === 'terminate' ? 'button risky' : 'button'} href={link(['plan'], { owner: path, for: action })} aria-label={`Plan ${action} of ${ownerWord(path)}`}>
                Plan {action}
              </a>
            ))}
          </span>
        ) : (
          <span class="muted small">You may look at it, not change it.</span>
        )}
      </td>
    </tr>
  )
}
