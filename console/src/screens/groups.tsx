import { useGroups, useProjects } from '../api/lists'
import { caller, may, settings } from '../api/session'
import type { GroupSummary } from '../api/types'
import { cli, curl, ownerWord } from '../lib/commands'
import { go, link, route } from '../lib/route'
import { plural } from '../lib/text'
import { Badge, Copy, Empty, Fault, Loading, stateTone, Table, Text } from '../ui/basics'
import { NamesTabs, Told } from '../ui/subject'

/** GroupsScreen lists the deployment intent groups of a project. */
export function GroupsScreen() {
  const projects = useProjects()
  const chosen = route.value.query.get('project') ?? (projects.data?.length === 1 ? projects.data[0] : undefined) ?? ''
  const groups = useGroups(chosen)
  const rows = groups.data?.pages.flatMap((p) => p.items) ?? []
  return (
    <>
      <div class="bar">
        <h1>Groups</h1>
        {chosen && <Copy curl={curl('GET', `/v2/projects/${chosen}/deployment-intent-groups`, undefined, settings.value.anonymous)} cli={cli('get', 'groups', '--project', chosen)} />}
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
      ) : groups.error && !groups.data ? (
        <Fault error={groups.error} />
      ) : !groups.data ? (
        <Loading what="the groups" />
      ) : rows.length === 0 ? (
        <Empty title="The project has no deployment intent group.">
          <p>
            Its names are documents of their own: <a href={link(['names'], { project: chosen })}>its names</a>.
          </p>
        </Empty>
      ) : (
        <div class="card">
          <Table label="Groups of the project" head={['Group', 'State', 'Names', 'Not deployed', 'Message', 'Actions']}>
            {rows.map((group) => (
              <Group key={group.path} group={group} project={chosen} />
            ))}
          </Table>
          {groups.hasNextPage && (
            <button type="button" class="quiet" disabled={groups.isFetchingNextPage} onClick={() => void groups.fetchNextPage()}>
              Show more
            </button>
          )}
        </div>
      )}
    </>
  )
}

/** Group is a row: the state of a group, and what waits to be deployed. */
function Group({ group, project }: { group: GroupSummary; project: string }) {
  const word = ownerWord(group.path)
  return (
    <tr>
      <td class="strong">
        <Text>{word}</Text>
      </td>
      <td>
        <Badge tone={stateTone(group.state)}>{group.state}</Badge>
      </td>
      <td>{group.names}</td>
      <td>{group.undeployed > 0 ? <Badge tone="wait">{plural(group.undeployed, 'document')}</Badge> : group.release === 0 ? 'all' : 'none'}</td>
      <td>
        <Told>{group.message || '–'}</Told>
      </td>
      <td>
        {may(caller.value, 'operator', project) ? (
          <span class="actions">
            {['deploy', 'rollback', 'terminate'].map((action) => (
              <a key={action} class={action === 'terminate' ? 'button risky' : 'button'} href={link(['plan'], { owner: group.path, for: action })} aria-label={`Plan ${action} of ${word}`}>
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
