import { useState } from 'preact/hooks'
import { useFleet } from '../api/fleet'
import { useClusters } from '../api/lists'
import { caller, may } from '../api/session'
import type { Fleet } from '../api/types'
import { cli, curl } from '../lib/commands'
import { labelsOf } from '../lib/failover'
import { gridOf, isLike, type Grid, type Row } from '../lib/fleet'
import { link, route } from '../lib/route'
import { plural } from '../lib/text'
import { duration } from '../lib/time'
import { Badge, Copy, Empty, Fault, Loading, Section, Table, Time, TruthBadge, type Tone } from '../ui/basics'
import { External, Labels, Publishers } from '../ui/machine'
import { ClusterLink } from '../ui/subject'
import { ClusterScreen } from './cluster'

export function FleetScreen() {
  const fleet = useFleet()
  const clusters = useClusters()
  if (!fleet.data) return fleet.error ? <Fault error={fleet.error} /> : <Loading what="the fleet" />
  const [first] = fleet.data.pages
  if (!first) return null
  const grid = gridOf(fleet.data.pages.flatMap((p) => p.items))
  const unused = (clusters.data ?? []).map((c) => c.path).filter((path) => !grid.rows.some((r) => r.cluster === path))
  const labels = new Map((clusters.data ?? []).map((c) => [c.path, labelsOf([c.document.spec])]))
  return (
    <>
      <Head used={grid.rows.length} unused={unused.length} more={fleet.hasNextPage} />
      <Counts fleet={first} />
      {grid.rows.length === 0 ? (
        <Empty title="No cluster has names yet.">
          <p>
            Clusters appear here once a name takes addresses from them, or external-dns runs there. <a href={link(['publish'])}>Publish a name</a>.
          </p>
        </Empty>
      ) : (
        <Clusters grid={grid} labels={labels} />
      )}
      <BuiltIn grid={grid} />
      {fleet.hasNextPage && (
        <p>
          <button type="button" disabled={fleet.isFetchingNextPage} onClick={() => void fleet.fetchNextPage()}>
            Read more clusters and external-dns
          </button>
        </p>
      )}
      {!fleet.hasNextPage && <WithoutNames clusters={unused} />}
    </>
  )
}

/** Head counts the clusters of the page: those in the table, and those below it that no name has to do with. */
function Head({ used, unused, more }: { used: number; unused: number; more: boolean }) {
  return (
    <div class="bar">
      <h1>Fleet</h1>
      <span class="muted">{more ? `the first ${plural(used, 'cluster')}` : `${plural(used + unused, 'cluster')}${unused > 0 ? `, ${unused.toLocaleString('en')} without names` : ''}`}</span>
      <Copy curl={curl('GET', '/v2/fleet')} cli={cli('fleet')} />
      {may(caller.value, 'admin') && (
        <a class="button" href={link(['publish'], { what: 'cluster' })}>
          Add a cluster
        </a>
      )}
      {may(caller.value, 'editor', '*') && (
        <a class="button" href={link(['publish'], { what: 'provider' })}>
          Add a provider
        </a>
      )}
    </div>
  )
}

/** Counts are how many names there are, how many of them are not known to be right, and how soon changes are answered. */
function Counts({ fleet: { hosts, groups, names, answerTimes } }: { fleet: Fleet }) {
  return (
    <>
      <div class="counts">
        <Count n={hosts.total} what={hosts.total === 1 ? 'name' : 'names'} to={link(['names'])} />
        <Count n={hosts.unpublished} what="not published, or not known" to={link(['names'], { published: 'NotTrue' })} tone="unknown" />
        <Count n={hosts.unverified} what="not answered, or not known" to={link(['names'], { verified: 'NotTrue' })} tone="unknown" />
        <Count n={(groups['Failed'] ?? 0) + (names['Failed'] ?? 0)} what="owners that failed" to={link(['names'], { state: 'Failed' })} tone="bad" />
      </div>
      <p class="muted small">
        A name counts once, also if it has several owners or providers.{' '}
        {answerTimes && (
          <>
            Servers answered changed addresses of Services after <b>{duration(answerTimes.median)}</b>
            {answerTimes.names > 1 && (
              <>
                {' '}
                at the median, <b>{duration(answerTimes.p95)}</b> for 95 %, {duration(answerTimes.longest)} at the latest
              </>
            )}
            : {plural(answerTimes.names, 'name')} in the last 24 hours.
          </>
        )}
      </p>
    </>
  )
}

/** Clusters are the clusters by external-dns, narrowed by a part of their name or labels. */
function Clusters({ grid, labels }: { grid: Grid; labels: Map<string, string[]> }) {
  const [only, setOnly] = useState('')
  const rows = grid.rows.filter((r) => isLike(only, r.cluster, labels.get(r.cluster) ?? []))
  return (
    <>
      <form class="filters" role="search" aria-label="Clusters" onSubmit={(e) => e.preventDefault()}>
        <label>
          <span>Cluster or label</span>
          <input type="search" value={only} placeholder="edge, or region=eu" list="fleet-labels" onInput={(e) => setOnly(e.currentTarget.value)} />
          <datalist id="fleet-labels">
            {[...new Set([...labels.values()].flat())].slice(0, 200).map((label) => (
              <option key={label} value={label} />
            ))}
          </datalist>
        </label>
      </form>
      <div class="card">
        <Table label="Clusters and providers" head={['Cluster', 'State', 'Names', 'Not published, or not known', 'Not answered, or not known', 'Lag', 'External-dns']}>
          {rows.map((row) => (
            <ClusterRow key={row.cluster} row={row} labels={labels.get(row.cluster)} />
          ))}
        </Table>
        {rows.length === 0 && <p class="muted">No cluster fits “{only}”.</p>}
        <p class="muted small">Not known: Signpost has not seen whether these names are published, or answered. Lag: objects that a cluster does not have yet; a dash means that this is not known.</p>
      </div>
    </>
  )
}

/** BuiltIn are the providers whose names Signpost writes itself. */
function BuiltIn({ grid: { builtIn } }: { grid: Grid }) {
  if (builtIn.length === 0) return null
  return (
    <Section title="Without external-dns, by the built-in publisher" id="built-in">
      <ul class="plain">
        {builtIn.map((item) => (
          <li key={`${item.project}/${item.provider}`}>
            <External item={item} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

function ClusterRow({ row: { cluster, item, publishers }, labels }: { row: Row; labels: string[] | undefined }) {
  const { total, unpublished, unverified } = item.hosts
  const count = (n: number, query: Record<string, string>) => (n > 0 ? <a href={link(['names'], { cluster, ...query })}>{n.toLocaleString('en')}</a> : '0')
  return (
    <tr>
      <th scope="row">
        <ClusterLink cluster={cluster} />
        <Labels of={labels} />
      </th>
      <td>
        <TruthBadge of="healthy" is={item.healthy} /> {item.drained && <Badge tone="note">drained</Badge>}
        {item.unreachableSince && (
          <div class="muted small">
            since <Time at={item.unreachableSince} />
          </div>
        )}
      </td>
      <td>{count(total, {})}</td>
      <td>{count(unpublished, { published: 'NotTrue' })}</td>
      <td>{count(unverified, { verified: 'NotTrue' })}</td>
      <td>
        {item.pending > 0 ? (
          <>
            <Badge tone="wait">{plural(item.pending, 'object')}</Badge>
            <div class="muted small">
              since <Time at={item.pendingSince} />
            </div>
          </>
        ) : item.healthy === 'True' ? (
          'none'
        ) : (
          <span class="muted">–</span>
        )}
      </td>
      <td>
        <Publishers all={publishers} />
      </td>
    </tr>
  )
}

function Count({ n, what, to, tone }: { n: number; what: string; to: string; tone?: Tone }) {
  return (
    <a class="count" href={to}>
      <b>{n.toLocaleString('en')}</b> {tone && n > 0 ? <Badge tone={tone}>{what}</Badge> : what}
    </a>
  )
}

/** WithoutNames lists the clusters that are registered, and that no name has to do with yet. */
function WithoutNames({ clusters }: { clusters: string[] }) {
  if (clusters.length === 0) return null
  return (
    <Section title={`${plural(clusters.length, 'cluster')} without names`} id="unused">
      <p class="muted">No name takes addresses from {clusters.length === 1 ? 'it' : 'them'}, and no external-dns runs there.</p>
      <ul class="plain">
        {clusters.slice(0, 300).map((path) => (
          <li key={path}>
            <ClusterLink cluster={path} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** FleetPlace is the page of the fleet, or of a cluster of it. */
export function FleetPlace() {
  const [, provider, cluster] = route.value.path
  return provider && cluster ? <ClusterScreen key={`${provider}/${cluster}`} path={`${provider}/${cluster}`} /> : <FleetScreen />
}
