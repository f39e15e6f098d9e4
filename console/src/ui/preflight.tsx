import { useQuery } from '@tanstack/react-query'
import { request } from '../api/client'
import type { Preflight } from '../api/types'
import { apiPath } from '../lib/commands'
import { Badge, Fault, Loading, Table, Text } from './basics'
import { Told } from './subject'

/** PreflightView asks a cluster whether Signpost can manage it. */
export function PreflightView({ path }: { path: string }) {
  const [provider, name] = path.split('/') as [string, string]
  const preflight = useQuery({
    queryKey: ['preflight', path],
    meta: { live: false },
    staleTime: 20_000,
    retry: false,
    queryFn: ({ signal }) => request<Preflight>('GET', apiPath(`cluster-providers/${provider}/clusters/${name}`, '/preflight'), { signal }),
  })
  if (preflight.error) return <Fault error={preflight.error} />
  if (!preflight.data) return <Loading what="the preflight" />
  const { checks, reachable, version } = preflight.data
  const failed = checks.filter((c) => !c.ok)
  return (
    <>
      <p>
        <Badge tone={reachable ? 'good' : 'bad'}>{reachable ? 'reachable' : 'unreachable'}</Badge> {version && <span class="muted">Kubernetes {version}</span>}{' '}
        {failed.length > 0 ? <Badge tone="bad">{failed.length} of {checks.length} checks fail</Badge> : <Badge tone="good">all checks pass</Badge>}{' '}
        <button type="button" class="quiet" onClick={() => void preflight.refetch()}>
          Check again
        </button>
      </p>
      {checks.length > 0 && (
        <details open={failed.length > 0}>
          <summary>Checks</summary>
          <Table label="Checks of the cluster" head={['Result', 'Check', 'What the cluster says']}>
            {[...failed, ...checks.filter((c) => c.ok)].map((c) => (
              <tr key={c.name}>
                <td>
                  <Badge tone={c.ok ? 'good' : 'bad'}>{c.ok ? 'passes' : 'fails'}</Badge>
                </td>
                <td>
                  <Text>{c.name}</Text>
                </td>
                <td>
                  <Told>{c.message}</Told>
                </td>
              </tr>
            ))}
          </Table>
        </details>
      )}
    </>
  )
}
