import { useQuery } from '@tanstack/react-query'
import { request } from '../api/client'
import { caller, may } from '../api/session'
import type { Plan, Status } from '../api/types'
import { apiPath, kindOf, ownerWord, projectOf } from '../lib/commands'
import { touches } from '../lib/pending'
import { goes } from '../lib/plan'
import { link } from '../lib/route'
import { plural } from '../lib/text'
import { Text } from './basics'

/** undeployedOf asks how many documents of a group differ from its release. */
export const undeployedOf = (owner: string) => ({
  queryKey: ['undeployed', owner],
  retry: false,
  staleTime: 10_000,
  queryFn: async ({ signal }: { signal: AbortSignal }) => (await request<Pick<Status, 'undeployed'>>('GET', apiPath(owner, '/status'), { query: { limit: '1' }, signal })).undeployed ?? [],
})

/** deployOf asks what a deploy of a group would do; some documents that are not deployed are the reason to ask. */
export const deployOf = (owner: string, documents: number) => ({
  queryKey: ['pending', owner, documents],
  enabled: documents > 0 && may(caller.value, 'operator', projectOf(owner)),
  retry: false,
  staleTime: 30_000,
  queryFn: ({ signal }: { signal: AbortSignal }) => request<Plan>('POST', apiPath(owner, '/plan'), { query: { for: 'update' }, signal }),
})

/** Pending says what a deploy would do to a name, if documents of its group have changed and are not deployed. */
export function Pending({ owner, host }: { owner: string; host: string }) {
  const isGroup = kindOf(owner) === 'group'
  const undeployed = useQuery({ ...undeployedOf(owner), enabled: isGroup })
  const n = undeployed.data?.length ?? 0
  const plan = useQuery(deployOf(owner, isGroup ? n : 0))
  if (n === 0) return null
  const way = (
    <a href={link(['plan'], { owner, for: 'deploy' })}>
      Look at the plan
    </a>
  )
  if (plan.data && goes(plan.data, host))
    return (
      <div class="fault" role="alert">
        <p>
          <b>
            The next deploy of group <Text>{ownerWord(owner)}</Text> removes this name.
          </b>{' '}
          {plural(n, 'document has', 'documents have')} changed since its release. {way}
        </p>
      </div>
    )
  return (
    <p class="notice">
      {plural(n, 'document of the group has', 'documents of the group have')} changed and {n === 1 ? 'is' : 'are'} not deployed.{plan.data ? (touches(plan.data, host) ? ' A deploy changes this name. ' : ' A deploy leaves this name as it is. ') : ' '}
      {plan.data && way}
    </p>
  )
}
