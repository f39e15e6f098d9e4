import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'preact/hooks'
import { Refusal, request } from '../api/client'
import { caller, may } from '../api/session'
import type { NameExplanation, Plan } from '../api/types'
import { apiPath, cli, curl, kindOf, ownerWord, projectOf } from '../lib/commands'
import { effect, idle, lacking } from '../lib/plan'
import { Copy, Empty, Fault, Loading, Text } from '../ui/basics'
import { PlanView, promise, Sure } from '../ui/planview'
import { named } from '../ui/subject'
import { GroupHead, Undeployed } from './plangroup'
import { backOf, Result, type Done } from './planresult'

/** Step is a request that plans, and the one that does it. */
interface Step {
  plan: { method: string; path: string; query: Record<string, string | undefined> }
  act: { method: string; path: string; query: Record<string, string | undefined> }
  cli: string // plans; it does nothing
  verb: string
}

/** stepOf is what an action on an owner asks of the API. */
export function stepOf(owner: string, action: string, to: string | undefined): Step | undefined {
  const kind = kindOf(owner)
  const path = apiPath(owner)
  const verb = `${action[0]?.toUpperCase()}${action.slice(1)}`
  if (kind === 'name' && action === 'delete')
    return {
      plan: { method: 'DELETE', path, query: { dryRun: 'true' } },
      act: { method: 'DELETE', path, query: {} },
      cli: cli('unpublish', owner.split('/')[3], '--project', projectOf(owner), '--dry-run'),
      verb: 'Unpublish',
    }
  const allowed: Record<string, string[]> = { group: ['deploy', 'instantiate', 'update', 'rollback', 'terminate'], 'logical cloud': ['deploy', 'instantiate', 'update', 'rollback', 'terminate'], provider: ['deploy', 'update'] }
  if (!allowed[kind]?.includes(action)) return undefined
  return {
    plan: { method: 'POST', path: `${path}/plan`, query: { for: action, to } },
    act: { method: 'POST', path: `${path}/${action}`, query: { to } },
    cli: cli('plan', ownerWord(owner), '--for', action, to && '--to', to),
    verb,
  }
}

/** PlanScreen shows what an action would do, and does exactly that by one button. */
export function PlanScreen({ owner, action, to }: { owner: string; action: string; to: string | undefined }) {
  const step = stepOf(owner, action, to)
  const client = useQueryClient()
  const [done, setDone] = useState<Done>()
  const accepted = done !== undefined
  const [sure, setSure] = useState(false)
  const project = projectOf(owner)
  const allowed = may(caller.value, kindOf(owner) === 'name' ? 'editor' : 'operator', project)
  const plan = useQuery({
    queryKey: ['plan', owner, action, to],
    enabled: Boolean(step && allowed && !accepted),
    meta: { live: false },
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    queryFn: ({ signal }) => (step ? request<Plan>(step.plan.method, step.plan.path, { query: step.plan.query, signal }) : Promise.reject(new Error('there is no such action'))),
  })
  const before = useQuery({
    queryKey: ['release', owner],
    enabled: allowed && !accepted && kindOf(owner) === 'name',
    meta: { live: false },
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
    queryFn: async ({ signal }) => (await request<NameExplanation>('GET', `/v2/names/${encodeURIComponent(owner.split('/')[3] ?? '')}`, { signal })).owners.find((o) => o.owner === owner)?.release ?? 0,
  })
  const act = useMutation({
    mutationFn: ({ act: { method, path, query }, token }: { act: Step['act']; token: string }) => request<{ revision?: number } | undefined>(method, path, { query: { ...query, confirm: token } }),
    onSuccess: (answer) => {
      if (shown) setDone({ action, plan: shown, release: answer?.revision ?? 0 })
      void client.invalidateQueries()
    },
  })
  if (!step) return <Empty title="There is no such action." />
  const refused = act.error instanceof Refusal ? act.error : undefined
  const shown = refused?.plan ?? plan.data
  const again = () => {
    act.reset()
    void plan.refetch()
  }
  return (
    <>
      <div class="bar">
        <h1>
          {step.verb} <Text>{kindOf(owner) === 'name' ? (owner.split('/')[3] ?? '') : named(owner)}</Text>
          {to ? ` to release ${to}` : action === 'rollback' ? ' to the release before' : ''}
        </h1>
        <Copy curl={curl(step.plan.method, `${step.plan.path}?${String(new URLSearchParams(Object.entries(step.plan.query).filter((e): e is [string, string] => Boolean(e[1]))))}`)} cli={step.cli} />
      </div>
      {kindOf(owner) === 'group' && allowed && !done && <GroupHead owner={owner} plan={shown} />}
      {!allowed ? (
        <Empty title="Your role does not allow this.">
          <p>To plan and to do it needs the role operator in project {project}. An operator of Signpost can grant it.</p>
        </Empty>
      ) : done ? (
        <Result owner={owner} before={before.data ?? 0} done={done} />
      ) : plan.error && !shown ? (
        <Fault error={plan.error}>
          <button type="button" onClick={again}>
            Plan again
          </button>
        </Fault>
      ) : !shown ? (
        <Loading what="the plan" />
      ) : (
        <>
          {act.error && (
            <Fault acted error={act.error}>
              <button type="button" onClick={again}>
                Look at the plan as it is now
              </button>
            </Fault>
          )}
          <p class="verdict">{shown.errors.length > 0 ? 'It cannot be done: see below.' : idle(shown) ? 'This changes nothing: everything is as it would be afterwards.' : `If you confirm: ${effect(shown)}.`}{act.error ? '' : ' Nothing has happened yet.'}</p>
          <div class="card">
            <PlanView plan={shown} project={project}>
              {['deploy', 'update'].includes(action) && <Undeployed owner={owner} />}
            </PlanView>
          </div>
          {shown.errors.length === 0 && !act.error && (
            <>
            <Sure plan={shown} sure={sure} set={setSure} />
            <div class="bar">
              <button type="button" class={idle(shown) ? '' : isDanger(action, shown) ? 'danger' : 'primary'} disabled={act.isPending || (lacking(shown) !== '' && !sure)} onClick={() => act.mutate({ act: step.act, token: shown.token })}>
                {act.isPending ? 'Asking…' : idle(shown) ? `${step.verb} all the same` : `${step.verb}: ${effect(shown)}`}
              </button>
              <a class="button" href={backOf(owner)}>
                Leave it as it is
              </a>
              <span class="muted small">{promise}</span>
            </div>
            </>
          )}
        </>
      )}
    </>
  )
}

/** isDanger tells whether a button takes something away. */
const isDanger = (action: string, plan: Plan) => ['terminate', 'delete'].includes(action) || lacking(plan) !== '' || plan.names.some((n) => n.action === 'delete')
