import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'preact/hooks'
import { Refusal, request } from '../api/client'
import { caller, may } from '../api/session'
import type { NameExplanation, Plan } from '../api/types'
import { curl, kindOf, projectOf } from '../lib/commands'
import { granters } from '../lib/hints'
import { effect, idle, lacking } from '../lib/plan'
import { stepOf, type Step } from '../lib/step'
import { Copy, Empty, Fault, Loading, Text } from '../ui/basics'
import { PlanView, promise, Sure } from '../ui/planview'
import { named } from '../ui/subject'
import { GroupHead, Undeployed } from './plangroup'
import { backOf, Result, type Done } from './planresult'

interface Asked {
  owner: string
  action: string
  to: string | undefined // the release; none: that before
}

/** useReleaseOf is the release that a name has before its plan is done; 0: not known. */
function useReleaseOf(owner: string, enabled: boolean): number {
  const release = useQuery({
    queryKey: ['release', owner],
    enabled: enabled && kindOf(owner) === 'name',
    meta: { live: false },
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
    queryFn: async ({ signal }) => (await request<NameExplanation>('GET', `/v2/names/${encodeURIComponent(owner.split('/')[3] ?? '')}`, { signal })).owners.find((o) => o.owner === owner)?.release ?? 0,
  })
  return release.data ?? 0
}

/** usePlanned reads a plan, and does it. A refusal of the act may have the plan of now, which is then the one to show. */
function usePlanned({ owner, action, to }: Asked, step: Step | undefined, allowed: boolean) {
  const client = useQueryClient()
  const [done, setDone] = useState<Done>()
  const plan = useQuery({
    queryKey: ['plan', owner, action, to],
    enabled: Boolean(step && allowed && !done),
    meta: { live: false },
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    queryFn: ({ signal }) => (step ? request<Plan>(step.plan.method, step.plan.path, { query: step.plan.query, signal }) : Promise.reject(new Error('there is no such action'))),
  })
  const act = useMutation({
    mutationFn: ({ act: { method, path, query }, token }: { act: Step['act']; token: string }) => request<{ revision?: number } | undefined>(method, path, { query: { ...query, confirm: token } }),
    onSuccess: (answer) => {
      if (shown) setDone({ action, plan: shown, release: answer?.revision ?? 0 })
      void client.invalidateQueries()
    },
  })
  const shown = (act.error instanceof Refusal ? act.error.plan : undefined) ?? plan.data
  const again = () => {
    act.reset()
    void plan.refetch()
  }
  return { shown, error: plan.error, act, again, done }
}

type Planned = ReturnType<typeof usePlanned>

/** PlanScreen shows what an action would do, and does exactly that by one button. */
export function PlanScreen(asked: Asked) {
  const { owner, action, to } = asked
  const step = stepOf(owner, action, to)
  const project = projectOf(owner)
  const allowed = may(caller.value, kindOf(owner) === 'name' ? 'editor' : 'operator', project)
  const planned = usePlanned(asked, step, allowed)
  const { shown, error, again, done } = planned
  const before = useReleaseOf(owner, allowed && !done)
  if (!step) return <Empty title="There is no such action." />
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
          <p>To plan and to do it needs the role operator in project {project}. {granters}</p>
        </Empty>
      ) : done ? (
        <Result owner={owner} before={before} done={done} />
      ) : error && !shown ? (
        <Fault error={error}>
          <button type="button" onClick={again}>
            Plan again
          </button>
        </Fault>
      ) : !shown ? (
        <Loading what="the plan" />
      ) : (
        <Confirmation asked={asked} step={step} planned={planned} plan={shown} />
      )}
    </>
  )
}

/** Confirmation shows a plan, and the button that does it. */
function Confirmation({ asked: { owner, action }, step, planned: { act, again }, plan }: { asked: Asked; step: Step; planned: Planned; plan: Plan }) {
  const [sure, setSure] = useState(false)
  const isIdle = idle(plan)
  const possible = plan.errors.length === 0
  return (
    <>
      {act.error && (
        <Fault acted error={act.error}>
          <button type="button" onClick={again}>
            Look at the plan as it is now
          </button>
        </Fault>
      )}
      <p class="verdict">{!possible ? 'It cannot be done: see below.' : isIdle ? 'This changes nothing: everything is as it would be afterwards.' : `If you confirm: ${effect(plan)}.`}{act.error ? '' : ' Nothing has happened yet.'}</p>
      <div class="card">
        <PlanView plan={plan} project={projectOf(owner)} unlimited={action === 'terminate'}>
          {['deploy', 'update'].includes(action) && <Undeployed owner={owner} />}
        </PlanView>
      </div>
      {possible && !act.error && (
        <>
          <Sure plan={plan} sure={sure} set={setSure} />
          <div class="bar act">
            <button type="button" class={isIdle ? '' : isDanger(action, plan) ? 'danger' : 'primary'} disabled={act.isPending || (lacking(plan) !== '' && !sure)} onClick={() => act.mutate({ act: step.act, token: plan.token })}>
              {act.isPending ? 'Asking…' : isIdle ? `${step.verb} all the same` : `${step.verb}: ${effect(plan)}`}
            </button>
            <a class="button" href={backOf(owner)}>
              Leave it as it is
            </a>
            <span class="muted small">{promise}</span>
          </div>
        </>
      )}
    </>
  )
}

/** isDanger tells whether a button takes something away. */
const isDanger = (action: string, plan: Plan) => ['terminate', 'delete'].includes(action) || lacking(plan) !== '' || plan.names.some((n) => n.action === 'delete')
