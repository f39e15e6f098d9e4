import { useEffect } from 'preact/hooks'
import { useGroups, useGroupsOfAll, useProjects } from '../api/lists'
import { caller, may, ownProjects } from '../api/session'
import type { GroupSummary } from '../api/types'
import { cli, curl, ownerWord, projectOf } from '../lib/commands'
import { actionsOf, byNeed, isGroup, messageOf } from '../lib/groups'
import { go, link, route } from '../lib/route'
import { plural, visible } from '../lib/text'
import { Badge, Copy, Empty, Fault, Loading, stateTone, Table, Text } from '../ui/basics'
import { NamesTabs, Told } from '../ui/subject'

/** GroupsScreen lists the deployment intent groups of a project, or of all. */
export function GroupsScreen() {
  const projects = useProjects()
  const single = ownProjects(caller.value)?.length === 1 // then there is nothing to choose
  const chosen = route.value.query.get('project') || (single ? (projects.data?.[0] ?? '') : '')
  const only = route.value.query.get('group') ?? ''
  const set = (project: string, group: string) => go(link(['groups'], { project, group }), true)
  return (
    <>
      <div class="bar">
        <h1>Groups</h1>
        {chosen && <Copy curl={curl('GET', `/v2/projects/${chosen}/deployment-intent-groups`)} cli={cli('get', 'groups', '--project', chosen)} />}
      </div>
      <NamesTabs here="groups" />
      <form class="filters" role="search" aria-label="Groups" onSubmit={(e) => e.preventDefault()}>
        <label>
          <span>Project</span>
          <select value={chosen} onChange={(e) => set(e.currentTarget.value, '')}>
            {!single && <option value="">all</option>}
            {[...new Set([...(projects.data ?? []), chosen].filter(Boolean))].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label class="grow">
          <span>Group</span>
          <input type="search" value={only} autocomplete="off" spellcheck={false} placeholder="store, or shop/store/v1/prod" onInput={(e) => set(chosen, e.currentTarget.value)} />
        </label>
      </form>
      {chosen ? <OfProject project={chosen} only={only} /> : projects.error ? <Fault error={projects.error} /> : projects.data ? <OfAll projects={projects.data} only={only} /> : <Loading what="the projects" />}
    </>
  )
}

const head = ['Group', 'State', 'Names', 'Not deployed', 'Message', 'Actions']
const mostProjects = 10 // of which groups are shown together

/** OfProject lists the groups of a project, a page at a time. Pages are read until one has a group that is looked for. */
function OfProject({ project, only }: { project: string; only: string }) {
  const groups = useGroups(project)
  const rows = groups.data?.pages.flatMap((p) => p.items) ?? []
  const fitting = rows.filter((g) => isGroup(only, g))
  const next = fitting.length === 0 && groups.hasNextPage && !groups.isFetchingNextPage && !groups.isFetchNextPageError
  useEffect(() => {
    if (next) void groups.fetchNextPage()
  }, [next, groups.data?.pages.length])
  if (!groups.data) return groups.error ? <Fault error={groups.error} /> : <Loading what="the groups" />
  if (rows.length === 0)
    return (
      <Empty title="The project has no deployment intent group.">
        <p>
          Its names are documents of their own: <a href={link(['names'], { project })}>its names</a>.
        </p>
      </Empty>
    )
  return (
    <div class="card">
      <Locked groups={fitting} />
      <Table label="Groups of the project" head={head}>
        {fitting.map((group) => (
          <Group key={group.path} group={group} />
        ))}
      </Table>
      {groups.isFetchNextPageError ? <Fault error={groups.error} /> : fitting.length === 0 && <None only={only} reading={groups.hasNextPage} />}
      {groups.hasNextPage && (
        <button type="button" class="quiet" disabled={groups.isFetchingNextPage} onClick={() => void groups.fetchNextPage()}>
          Show more
        </button>
      )}
    </div>
  )
}

/** OfAll lists the first groups of the first projects, those that need somebody first. */
function OfAll({ projects, only }: { projects: string[]; only: string }) {
  const { groups, more, unread, error, reading } = useGroupsOfAll(projects.slice(0, mostProjects))
  const fitting = groups.filter((g) => isGroup(only, g)).sort(byNeed)
  const left = [...more, ...projects.slice(mostProjects)]
  if (groups.length === 0)
    return error ? <Fault error={error} /> : reading ? <Loading what="the groups" /> : <Empty title="There is no deployment intent group.">A group deploys the DNS intents of a composite app. Names may also be documents of their own.</Empty>
  return (
    <div class="card">
      {unread.length > 0 && (
        <Fault error={error}>
          <p>The groups of {unread.join(', ')} are not listed.</p>
        </Fault>
      )}
      <p class="muted small">A group deploys the DNS intents of a composite app. It is written as project/composite app/version/group.</p>
      <Locked groups={fitting} />
      <Table label="Groups of all projects" head={head}>
        {fitting.map((group) => (
          <Group key={group.path} group={group} />
        ))}
      </Table>
      {fitting.length === 0 && <None only={only} reading={reading} />}
      {left.length > 0 && <p class="muted">There are more in {left.slice(0, 20).join(', ')}{left.length > 20 ? ' and others' : ''}: choose a project.</p>}
    </div>
  )
}

/** Locked says once of which projects the user may not change the groups. */
function Locked({ groups }: { groups: GroupSummary[] }) {
  const projects = [...new Set(groups.map((g) => projectOf(g.path)))].filter((project) => !may(caller.value, 'operator', project))
  return projects.length > 0 ? <p class="muted small">You may look at the groups of {projects.join(', ')}, not change them.</p> : null
}

/** None says that no group is like what is typed. */
const None = ({ only, reading }: { only: string; reading: boolean }) => (reading ? <Loading what="the groups" /> : <p class="muted">No group fits “{visible(only)}”.</p>)

/** Group is a row: the state of a group, and what waits to be deployed. */
function Group({ group }: { group: GroupSummary }) {
  const word = ownerWord(group.path)
  const project = projectOf(group.path)
  return (
    <tr>
      <td class="strong">
        <Text>{word}</Text>
      </td>
      <td>
        <Badge tone={stateTone(group.state)}>{group.state}</Badge>
      </td>
      <td>{group.names > 0 ? <a href={link(['names'], { project })} title="The names of the project">{group.names}</a> : 'none'}</td>
      <td>{group.undeployed > 0 ? <Badge tone="note">{plural(group.undeployed, 'document')}</Badge> : group.release === 0 || group.state === 'Terminated' ? 'all' : 'none'}</td>
      <td>
        <Told>{messageOf(group)}</Told>
      </td>
      <td>
        {may(caller.value, 'operator', project) ? (
          <span class="actions">
            {actionsOf(group).map((action) => (
              <a key={action} class={action === 'terminate' ? 'button risky' : 'button'} href={link(['plan'], { owner: group.path, for: action })} aria-label={`Plan ${action} of ${word}`}>
                Plan {action}
              </a>
            ))}
          </span>
        ) : null}
      </td>
    </tr>
  )
}
