import { useQuery } from '@tanstack/react-query'
import { request } from '../api/client'
import type { FoundNamePage, Provider } from '../api/types'
import { apiPath } from '../lib/commands'
import { alwaysAllowed, isAbove, limitOf, percentOf, type Removal } from '../lib/plan'
import { plural } from '../lib/text'
import { Badge, Section } from './basics'

/** Meter shows how many of a provider's names a plan takes out of DNS, and how much of maxRemoval that is. */
export function Meter({ removal, project, unlimited }: { removal: Removal; project: string; unlimited: boolean }) {
  const about = useQuery({
    queryKey: ['removal', project, removal.provider],
    meta: { live: false },
    queryFn: async ({ signal }) => {
      const [provider, names] = await Promise.all([
        request<Provider>('GET', apiPath(`projects/${project}/dns-update-records/${removal.provider}`), { signal }),
        request<FoundNamePage>('GET', '/v2/names', { query: { project, provider: removal.provider, limit: '1' }, signal }),
      ])
      return { percent: percentOf(provider.spec.maxRemoval), total: names.hosts }
    },
  })
  if (!about.data) return null
  const { percent, total } = about.data
  const part = total > 0 ? Math.min(100, (removal.names * 100) / total) : 100
  const over = !unlimited && isAbove(removal.names, total, percent)
  const limit = limitOf(total, percent)
  return (
    <Section title={`Removal from provider ${removal.provider}`} id={`meter-${removal.provider}`}>
      <svg class="meter" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label={`${Math.round(part)} percent; ${unlimited ? 'there is no limit' : `the limit is ${Math.round(limit)} percent`}`}>
        <rect class="track" width="100" height="10" />
        <rect class={`value ${over ? 'over' : ''}`} width={part} height="10" />
        {!unlimited && <line class="limit" x1={limit} x2={limit} y1="0" y2="10" vector-effect="non-scaling-stroke" />}
      </svg>
      <p>
        {removal.names.toLocaleString('en')} of {plural(total, 'host name')} of the provider {removal.names === 1 ? 'leaves' : 'leave'} it ({Math.round(part)} %).{' '}
        {unlimited ? 'The limit of removals (maxRemoval) does not count for the end of a group.' : `Without a confirmation, at most ${percent} % of its host names may go at once (maxRemoval), or ${alwaysAllowed} if that is more.`}{' '}
        {over && <Badge tone="bad">above the limit: only this plan, confirmed by you, does it</Badge>}
      </p>
    </Section>
  )
}
