import type { NameOwner } from '../api/types'
import { builtIn } from '../lib/chain'
import { apiPath, cli, curl, hasSettings } from '../lib/commands'
import { Badge, Copy, Table, Text, Time, toneOf } from '../ui/basics'
import { ClusterLink, settingsLink, Told } from '../ui/subject'

/** Behind shows the documents, conditions and publishers behind the name. */
export function Behind({ owner }: { owner: NameOwner }) {
  return (
    <details class="section">
      <summary>Documents, conditions and publishers</summary>
      <Table label="Documents that give the name" head={['Document', 'Deployed', 'Now', 'Read']}>
        {owner.documents.map((d) => (
          <tr key={d.path}>
            <td>
              {hasSettings(d.path) ? <a href={settingsLink(d.path)}>{d.path}</a> : <Text>{d.path}</Text>}
            </td>
            <td>revision {d.revision}</td>
            <td>
              revision {d.current} {d.current !== d.revision && <Badge tone="note">not deployed</Badge>}
            </td>
            <td>
              <Copy curl={curl('GET', apiPath(d.path))} cli={cli('get', d.path)} />
            </td>
          </tr>
        ))}
      </Table>
      <Table label="Conditions" head={['Type', 'Condition', 'Status', 'Why', 'Since']}>
        {owner.records.flatMap((r) =>
          r.conditions.map((c) => (
            <tr key={r.record + r.scope + r.type + c.type}>
              <td>
                {r.type} by {r.record}
              </td>
              <td>{c.type}</td>
              <td>
                <Badge tone={toneOf(c.status)}>{c.status}</Badge>
              </td>
              <td>
                <Told>{c.message ? `${c.reason}: ${c.message}` : c.reason}</Told>
              </td>
              <td>
                <Time at={c.lastTransitionTime} />
              </td>
            </tr>
          )),
        )}
      </Table>
      <Table label="Publishers" head={['Provider', 'Cluster', 'Version', 'Available', 'Last synchronization', 'Fault']}>
        {owner.externalDNS.map((e) => (
          <tr key={e.record + e.cluster + e.scope}>
            <td>{e.record}</td>
            <td>{e.cluster === builtIn ? 'Signpost' : <ClusterLink cluster={e.cluster} />}</td>
            <td>{e.version}</td>
            <td>
              <Badge tone={e.available === undefined ? 'unknown' : e.available ? 'good' : 'bad'}>{e.available === undefined ? 'cannot be observed' : e.available ? 'available' : 'not available'}</Badge>
            </td>
            <td>
              <Time at={e.lastSync} />
            </td>
            <td>
              <Told>{e.message || '–'}</Told>
            </td>
          </tr>
        ))}
      </Table>
    </details>
  )
}
