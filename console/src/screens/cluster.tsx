import { useQuery } from '@tanstack/react-query'
import { api, ask, request } from '../api/client'
import { caller, may } from '../api/session'
import type { Cluster, FleetItem, FoundNamePage } from '../api/types'
import { apiPath, cli, curl } from '../lib/commands'
import { uses } from '../lib/draft'
import { labelsOf } from '../lib/failover'
import { link } from '../lib/route'
import { plural } from '../lib/text'
import { clock } from '../lib/time'
import { Badge, Copy, Fault, Loading, Section, Table, Text, Time, TruthBadge } from '../ui/basics'
import { External, Labels } from '../ui/machine'
import { PreflightView } from '../ui/preflight'
import { By, NameLink, OwnerLink, settingsLink, Told } from '../ui/subject'

/** ClusterScreen is all about one cluster. */
export function ClusterScreen({ path }: { path: string }) {
  const docPath = `cluster-providers/${path.replace('/', '/clusters/')}`
  const document = useQuery({
    queryKey: ['cluster', path],
    retry: false,
    queryFn: ({ signal }) => request<Cluster>('GET', apiPath(docPath), { signal }),
  })
  const fleet = useQuery({
    queryKey: ['fleet', path],
    refetchInterval: 10_000,
    queryFn: ({ signal }) => ask(api.GET('/v2/fleet', { params: { query: { cluster: path } }, signal })),
  })
  const items = fleet.data?.items ?? []
  const own = items.find((i) => i.kind === 'cluster')
  const drained = document.data?.status?.drained
  return (
    <>
      <div class="bar">
        <h1>
          <Text>{path}</Text>
        </h1>
        {own && <TruthBadge of="healthy" is={own.healthy} />}
        {(drained || own?.drained) && <Badge tone="note">drained</Badge>}
        {document.data?.status?.abandoned && <Badge tone="bad">abandoned</Badge>}
        <Copy curl={curl('GET', apiPath(docPath))} cli={cli('get', docPath)} />
        {document.data && <a href={settingsLink(docPath)}>Settings</a>}
        {document.data && may(caller.value, 'operator') && <Drain path={path} drained={Boolean(drained)} />}
      </div>
      {drained && <Drained by={drained} />}
      {own && <Condition own={own} />}
      {document.data && <About path={path} document={document.data} />}
      {document.error && <Fault error={document.error} />}
      <div class="card">
        <Publishers items={items.filter((i) => i.kind === 'externalDNS')} />
        <ItsNames path={path} />
      </div>
    </>
  )
}

function Drained({ by: { since, ...by } }: { by: NonNullable<NonNullable<Cluster['status']>['drained']> }) {
  return (
    <p class="notice">
      Its addresses are kept out of public names since <Time at={since} />, <By {...by} />.
    </p>
  )
}

/** Condition says what is wrong with the cluster, and what follows for names. */
function Condition({ own }: { own: FleetItem }) {
  return (
    <>
      {own.message && own.healthy !== 'False' && (
        <p class="notice">
          <Told>{own.message}</Told>
        </p>
      )}
      {own.message && own.healthy === 'False' && <Lost why={own.message} since={own.unreachableSince} />}
      {own.pending > 0 && (
        <p class="notice">
          {plural(own.pending, 'object')} of Signpost {own.pending === 1 ? 'is' : 'are'} not there as wanted, since <Time at={own.pendingSince} />. If this lasts, see the preflight below.
        </p>
      )}
    </>
  )
}

function Lost({ why, since }: { why: string; since: string | undefined }) {
  return (
    <div class="fault" role="alert">
      <p>
        <b>
          Signpost cannot reach this cluster
          {since && (
            <>
              {' '}
              since <Time at={since} />
            </>
          )}
          :
        </b>{' '}
        <Told>{why}</Told>
      </p>
      <ul>
        <li>Its addresses leave the names that have another healthy cluster, five minutes after it was lost, or as the name says (health.unreachableAfter). The page of a name says whether they have left, or why they stay.</li>
        <li>Names that have no other healthy cluster keep the addresses that they have from it. No name gets further ones from it until it answers.</li>
        <li>Names that an external-dns there publishes stay as they are. Their changes wait until the cluster answers, and so do its objects.</li>
        <li>If most clusters are lost at once, Signpost assumes a fault of its own network, and keeps all addresses.</li>
      </ul>
      <p>The affected names are below. To take its addresses out of all names now, drain it.</p>
    </div>
  )
}

function About({ path, document }: { path: string; document: Cluster }) {
  return (
    <div class="card">
      <Section title="About the cluster" id="about">
        <Labels of={labelsOf([document.spec])} />
        <ul class="plain">
          {uses.filter(([use]) => document.spec.uses?.includes(use) ?? true).map(([use, text]) => (
            <li key={use}>
              For <b>{use}</b>: {text}
            </li>
          ))}
        </ul>
        {document.status?.credentialsExpire && <p>Its credentials end {clock(document.status.credentialsExpire)}.</p>}
      </Section>
      <Section title="Preflight" id="preflight">
        <PreflightView path={path} />
      </Section>
    </div>
  )
}

function Publishers({ items }: { items: FleetItem[] }) {
  return (
    <Section title="External-dns there" id="dns">
      {items.length === 0 ? <p class="muted">No external-dns here publishes a name that you may read.</p> : (
        items.map((i) => (
          <p key={`${i.project}/${i.provider}/${i.scope}`}>
            <External item={i} />
          </p>
        ))
      )}
    </Section>
  )
}

function ItsNames({ path }: { path: string }) {
  const names = useQuery({
    queryKey: ['names-of', path],
    queryFn: ({ signal }) => request<FoundNamePage>('GET', '/v2/names', { query: { cluster: path, sort: 'worst', limit: '20' }, signal }),
    refetchInterval: 10_000,
  })
  return (
    <Section title="Names of the cluster" aside={<span class="muted small">They may have its addresses, or its external-dns publishes them. The worst first.</span>} id="its-names">
      {!names.data ? (
        names.error ? (
          <Fault error={names.error} />
        ) : (
          <Loading what="its names" />
        )
      ) : names.data.total === 0 ? (
        <p class="muted">None.</p>
      ) : (
        <>
          <Table label="Names of the cluster" head={['Name', 'Owner', 'Published', 'Answered']}>
            {names.data.items.map((n) => (
              <tr key={n.name + n.owner + n.provider + n.scope}>
                <td>
                  <NameLink name={n.name} />
                </td>
                <td>
                  <OwnerLink path={n.owner} />
                </td>
                <td>
                  <TruthBadge of="published" is={n.published} />
                </td>
                <td>
                  <TruthBadge of="verified" is={n.verified} />
                </td>
              </tr>
            ))}
          </Table>
          <a href={link(['names'], { cluster: path })}>All {names.data.total.toLocaleString('en')}</a>
        </>
      )}
    </Section>
  )
}

/** Drain leads to the failover desk, which shows the names that change, asks for a reason, and keeps a record. */
function Drain({ path, drained }: { path: string; drained: boolean }) {
  const verb = drained ? 'undrain' : 'drain'
  return (
    <a class={drained ? 'button' : 'button risky'} href={link(['failover'], { [verb]: path })}>
      {drained ? 'Preview undrain' : 'Preview drain'}
    </a>
  )
}
