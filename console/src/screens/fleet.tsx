import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'preact/hooks'
import { api, ask, request } from '../api/client'
import { useClusters } from '../api/lists'
import { caller, may, settings } from '../api/session'
import type { Cluster, Fleet, FleetItem, FoundNamePage } from '../api/types'
import { apiPath, cli, curl } from '../lib/commands'
import { uses } from '../lib/draft'
import { labelsOf } from '../lib/failover'
import { gridOf, isLike, type Cell } from '../lib/fleet'
import { link, route } from '../lib/route'
import { plural } from '../lib/text'
import { duration } from '../lib/time'
import { Badge, Copy, Empty, Fault, Loading, Section, Table, Text, Time, TruthBadge, type Tone } from '../ui/basics'
import { Told } from '../ui/subject'
import { PreflightView } from '../ui/preflight'

const most = 1000 // clusters and external-dns of a page

/** useFleet reads how clusters and external-dns do, a page of them. */
const useFleet = () =>
  useInfiniteQuery({
    queryKey: ['fleet'],
    initialPageParam: '',
    refetchInterval: 10_000,
    queryFn: ({ pageParam, signal }) => ask(api.GET('/v2/fleet', { params: { query: { limit: most, ...(pageParam ? { continue: pageParam } : {}) } }, signal })),
    getNextPageParam: (last: Fleet) => last.continue,
  })

/** useFailing reads which clusters cannot be reached, and which external-dns are not available. */
export const useFailing = () =>
  useQuery({
    queryKey: ['fleet', 'failing'],
    refetchInterval: 10_000,
    queryFn: ({ signal }) => ask(api.GET('/v2/fleet', { params: { query: { limit: most, healthy: 'False' } }, signal })),
  })

export function FleetScreen() {
  const fleet = useFleet()
  const clusters = useClusters()
  const [only, setOnly] = useState('')
  if (!fleet.data) return fleet.error ? <Fault error={fleet.error} /> : <Loading what="the fleet" />
  const [first] = fleet.data.pages
  if (!first) return null
  const items = fleet.data.pages.flatMap((p) => p.items)
  const grid = gridOf(items)
  const labels = new Map((clusters.data ?? []).map((c) => [c.path, labelsOf([c.document.spec])]))
  const rows = grid.rows.filter((r) => isLike(only, r.cluster, labels.get(r.cluster) ?? []))
  return (
    <>
      <div class="bar">
        <h1>Fleet</h1>
        <span class="muted">{plural(grid.rows.length, 'cluster')}</span>
        <Copy curl={curl('GET', '/v2/fleet', undefined, settings.value.anonymous)} cli={cli('fleet')} />
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
      <div class="counts">
        <Count n={first.hosts.total} what="names" to={link(['names'])} />
        <Count n={first.hosts.unpublished} what="publication not confirmed" to={link(['names'], { published: 'NotTrue' })} tone="wait" />
        <Count n={first.hosts.unverified} what="answers not confirmed" to={link(['names'], { verified: 'NotTrue' })} tone="wait" />
        <Count n={(first.groups['Failed'] ?? 0) + (first.names['Failed'] ?? 0)} what="owners that failed" to={link(['names'], { state: 'Failed' })} tone="bad" />
      </div>
      <p class="muted small">A name counts once, also if it has several owners or providers.</p>
      {first.answerTimes && (
        <p class="muted">
          In the last 24 hours, servers answered the latest change of {plural(first.answerTimes.names, 'name')} after <b>{duration(first.answerTimes.median)}</b>
          {first.answerTimes.names > 1 && (
            <>
              {' '}
              at the median, after <b>{duration(first.answerTimes.p95)}</b> for 95 %, and after {duration(first.answerTimes.longest)} at the latest
            </>
          )}
          .
        </p>
      )}
      {grid.rows.length === 0 ? (
        <Empty title="No cluster has names yet.">
          <p>
            Clusters appear here once a name takes addresses from them, or external-dns runs there. <a href={link(['publish'])}>Publish a name</a>.
          </p>
        </Empty>
      ) : (
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
            <Table label="Clusters and providers" head={['Cluster', 'Reachable', 'Names', 'Not confirmed', 'Lag', ...grid.columns]}>
              {rows.map((row) => (
                <tr key={row.cluster}>
                  <th scope="row">
                    <a href={link(['fleet', ...row.cluster.split('/')])}>{row.cluster}</a>
                    <Labels of={labels.get(row.cluster)} />
                  </th>
                  <td>
                    <TruthBadge of="healthy" is={row.item.healthy} /> {row.item.drained && <Badge tone="wait">drained</Badge>}
                  </td>
                  <td>
                    <a href={link(['names'], { cluster: row.cluster })}>{row.item.hosts.total}</a>
                  </td>
                  <td class="line">{unconfirmed(row.item.hosts)}</td>
                  <td>
                    {row.item.pending > 0 ? (
                      <Badge tone="wait">
                        {plural(row.item.pending, 'object')}, the oldest since <Time at={row.item.pendingSince} />
                      </Badge>
                    ) : (
                      'none'
                    )}
                  </td>
                  {row.cells.map((cell, i) => (
                    <td key={grid.columns[i]}>{cell ? <InCell cell={cell} /> : <span class="muted">–</span>}</td>
                  ))}
                </tr>
              ))}
            </Table>
            {rows.length === 0 && <p class="muted">No cluster fits “{only}”.</p>}
            <p class="muted small">Not confirmed: names whose publication, or whose answers, Signpost has not seen. Lag: objects that Signpost wants in the cluster and that it does not have yet.</p>
            {grid.columns.length > 0 && <p class="muted small">Each column after "Lag" is the external-dns of a provider, as project/provider. A dash means that none runs in this cluster.</p>}
            {grid.builtIn.length > 0 && (
              <div class="small">
                <span class="muted">Without external-dns, by the built-in publisher:</span>
                {grid.builtIn.map((item) => (
                  <External key={`${item.project}/${item.provider}`} item={item} />
                ))}
              </div>
            )}
          </div>
        </>
      )}
      {fleet.hasNextPage && (
        <p>
          <button type="button" disabled={fleet.isFetchingNextPage} onClick={() => void fleet.fetchNextPage()}>
            Read more clusters and external-dns
          </button>
        </p>
      )}
      <WithoutNames clusters={(clusters.data ?? []).map((c) => c.path).filter((path) => !grid.rows.some((r) => r.cluster === path))} />
    </>
  )
}

/** unconfirmed says of how many names nobody has seen that they are published, or answered. */
const unconfirmed = ({ unpublished, unverified }: FleetItem['hosts']) => [unpublished > 0 && `publication of ${plural(unpublished, 'name')}`, unverified > 0 && `answers of ${plural(unverified, 'name')}`].filter(Boolean).join(', ') || 'none'

/** Labels are those of a cluster. */
function Labels({ of }: { of: string[] | undefined }) {
  if (!of || of.length === 0) return null
  return (
    <div class="labels">
      {of.map((label) => (
        <Badge key={label} tone="plain">
          {label}
        </Badge>
      ))}
    </div>
  )
}

/** WithoutNames lists the clusters that are registered, and that no name has to do with yet. */
function WithoutNames({ clusters }: { clusters: string[] }) {
  if (clusters.length === 0) return null
  return (
    <Section title={`${plural(clusters.length, 'cluster')} without names`} id="unused">
      <p class="muted">No name takes addresses from them, and no external-dns runs there.</p>
      <ul class="plain">
        {clusters.slice(0, 300).map((path) => (
          <li key={path}>
            <a href={link(['fleet', ...path.split('/')])}>{path}</a>
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Count({ n, what, to, tone }: { n: number; what: string; to: string; tone?: Tone }) {
  return (
    <a class="count" href={to}>
      <b>{n.toLocaleString('en')}</b> {tone && n > 0 ? <Badge tone={tone}>{what}</Badge> : what}
    </a>
  )
}

function InCell({ cell }: { cell: Cell }) {
  return (
    <>
      <TruthBadge of="available" is={cell.healthy} /> <span class="muted small">{plural(cell.hosts.total, 'name')}{cell.scope === 'cluster' ? ', own' : ''}</span>
    </>
  )
}

/** ClusterScreen is all about one cluster. */
export function ClusterScreen({ path }: { path: string }) {
  const [provider, name] = path.split('/') as [string, string]
  const document = useQuery({
    queryKey: ['cluster', path],
    retry: false,
    queryFn: ({ signal }) => request<Cluster>('GET', apiPath(`cluster-providers/${provider}/clusters/${name}`), { signal }),
  })
  const fleet = useQuery({
    queryKey: ['fleet', path],
    refetchInterval: 10_000,
    queryFn: ({ signal }) => ask(api.GET('/v2/fleet', { params: { query: { cluster: path } }, signal })),
  })
  const items = fleet.data?.items ?? []
  const own = items.find((i) => i.kind === 'cluster')
  const names = useQuery({
    queryKey: ['names-of', path],
    queryFn: ({ signal }) => request<FoundNamePage>('GET', '/v2/names', { query: { cluster: path, sort: 'worst', limit: '20' }, signal }),
    refetchInterval: 10_000,
  })
  const drained = document.data?.status?.drained
  const docPath = `cluster-providers/${provider}/clusters/${name}`
  return (
    <>
      <div class="bar">
        <h1>
          <Text>{path}</Text>
        </h1>
        {own && <TruthBadge of="healthy" is={own.healthy} />}
        {(drained || own?.drained) && <Badge tone="wait">drained</Badge>}
        {document.data?.status?.abandoned && <Badge tone="bad">abandoned</Badge>}
        <Copy curl={curl('GET', apiPath(docPath), undefined, settings.value.anonymous)} cli={cli('get', docPath)} />
        {document.data && may(caller.value, 'operator') && <Drain path={path} drained={Boolean(drained)} />}
      </div>
      {drained && (
        <p class="notice">
          Its addresses are kept out of public names since <Time at={drained.since} />, by {drained.failover && (
            <>
              <a href={link(['failover', drained.failover])}>a failover</a> of{' '}
            </>
          )}
          <Text>{drained.actor}</Text>
          {drained.reason && (
            <>
              : <Text>{drained.reason}</Text>
            </>
          )}
          .
        </p>
      )}
      {own?.message && own.healthy !== 'False' && (
        <p class="notice">
          <Told>{own.message}</Told>
        </p>
      )}
      {own?.message && own.healthy === 'False' && (
        <div class="fault" role="alert">
          <p>
            <b>Signpost cannot reach this cluster.</b> <Told>{own.message}</Told>
          </p>
          <ul>
            <li>Its addresses leave the names that have another healthy cluster, five minutes after it was lost, or as the name says (health.unreachableAfter).</li>
            <li>Names that have no other healthy cluster keep its addresses.</li>
            <li>Names that an external-dns there publishes stay as they are. Their changes wait until the cluster answers, and so do its objects.</li>
            <li>If most clusters are lost at once, Signpost assumes a fault of its own network, and keeps all addresses.</li>
          </ul>
          <p>
            The names that it is about are below. The page of a name that has an address from it says when that leaves. To take its addresses out now, drain it.
          </p>
        </div>
      )}
      {own && own.pending > 0 && (
        <p class="notice">
          {plural(own.pending, 'object')} of Signpost {own.pending === 1 ? 'is' : 'are'} not there as wanted, since <Time at={own.pendingSince} />. If this lasts, see the preflight below.
        </p>
      )}
      {document.data && (
        <div class="card">
          <Section title="About the cluster" id="about">
            <Labels of={labelsOf([document.data.spec])} />
            <p>Signpost may use the cluster for this. The sections below say what is in use.</p>
            <ul>
              {uses.filter(([use]) => document.data.spec.uses?.includes(use) ?? true).map(([use, text]) => (
                <li key={use}>
                  <b>{use}</b>: {text}
                </li>
              ))}
            </ul>
            <p>
              {document.data.status?.credentialsExpire && (
                <span>
                  Its credentials end {new Date(document.data.status.credentialsExpire).toLocaleString()}.
                </span>
              )}
            </p>
          </Section>
          <Section title="Preflight" id="preflight">
            <PreflightView path={path} />
          </Section>
        </div>
      )}
      {document.error && <Fault error={document.error} />}
      <div class="card">
        <Section title="External-dns there" id="dns">
          {items.filter((i) => i.kind === 'externalDNS').length === 0 ? (
            <p class="muted">No external-dns here publishes a name that you may read.</p>
          ) : (
            items.filter((i) => i.kind === 'externalDNS').map((i) => <External key={`${i.project}/${i.provider}/${i.scope}`} item={i} />)
          )}
        </Section>
        <Section title="Names that may have its addresses, or whose external-dns is there: the worst first" id="its-names">
          {names.data ? (
            names.data.total === 0 ? (
              <p class="muted">None.</p>
            ) : (
              <>
                <ul class="plain">
                  {names.data.items.map((n) => (
                    <li key={n.name + n.owner + n.provider + n.scope}>
                      <a href={link(['names', n.name])}>
                        <bdi>{n.name}</bdi>
                      </a>{' '}
                      <TruthBadge of="published" is={n.published} /> <TruthBadge of="verified" is={n.verified} />
                    </li>
                  ))}
                </ul>
                <a href={link(['names'], { cluster: path })}>All {names.data.total.toLocaleString('en')}</a>
              </>
            )
          ) : names.error ? (
            <Fault error={names.error} />
          ) : (
            <Loading what="its names" />
          )}
        </Section>
      </div>
    </>
  )
}

function External({ item }: { item: FleetItem }) {
  return (
    <p>
      <a href={link(['names'], { project: item.project, provider: item.provider })}>
        {item.project}/{item.provider}
      </a>{' '}
      <TruthBadge of="available" is={item.healthy} /> <span class="muted">{plural(item.hosts.total, 'name')}, publication not confirmed for {item.hosts.unpublished}</span> <Told>{item.message ?? ''}</Told>
    </p>
  )
}

/** Drain leads to the failover desk, which shows the names that change, asks for a reason, and keeps a record. */
function Drain({ path, drained }: { path: string; drained: boolean }) {
  const verb = drained ? 'undrain' : 'drain'
  return (
    <a class={drained ? 'button' : 'button risky'} href={link(['failover'], { [verb]: path })}>
      {drained ? 'Undrain: preview' : 'Drain: preview'}
    </a>
  )
}

/** FleetPlace is the page of the fleet, or of a cluster of it. */
export function FleetPlace() {
  const [, provider, cluster] = route.value.path
  return provider && cluster ? <ClusterScreen key={`${provider}/${cluster}`} path={`${provider}/${cluster}`} /> : <FleetScreen />
}
