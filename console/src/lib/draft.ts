import type { DraftPlan, FieldError } from '../api/types'
import { pairs } from './text'

/** Draft is a document that is not stored, with its collection. */
export interface Draft {
  resource: string
  metadata: { name: string }
  spec: Record<string, unknown>
}

/** pathOf is where a draft will be stored. */
export const pathOf = ({ resource, metadata }: Draft) => `${resource}/${metadata.name}`

/** ownErrors are the faults of a draft's first document, with pointers into that. Those of its parent begin with /parent. */
export function ownErrors(plan: Pick<DraftPlan, 'errors'>): FieldError[] {
  return plan.errors.map((e) => ({ ...e, pointer: e.pointer.replace(/^\/documents\/0(?=\/|$)/, '').replace(/^\/documents\/1(?=\/|$)/, '/parent') }))
}

/** takenError tells that a draft would replace a document of the same name. */
export function takenError(plan: Pick<DraftPlan, 'documents'>, draft: Draft): FieldError[] {
  const taken = plan.documents.some((d) => d.path === pathOf(draft) && ['update', 'unchanged'].includes(d.action))
  return taken ? [{ pointer: '/metadata/name', detail: 'is taken: there is one of this name already' }] : []
}

/** lines reads a line key=value each; a line without =, and a key that is given twice, are told as faults. */
export function lines(text: string): { values: Record<string, string>; faults: string[] } {
  const values: Record<string, string> = {}
  const faults: string[] = []
  for (const line of text.split('\n').map((l) => l.trim()).filter(Boolean)) {
    const at = line.indexOf('=')
    const key = line.slice(0, at).trim()
    if (at <= 0) faults.push(`"${line}" is not of the form key=value`)
    else if (key in values) faults.push(`"${key}" is given twice`)
    else values[key] = line.slice(at + 1).trim()
  }
  return { values, faults }
}

/** pathFaults are those of a text that is to be one part of a path. */
const pathFaults = (text: string) => (/[/\s]/.test(text.trim()) ? ['must not have slashes or spaces'] : [])

/** OwnFaults are those that a form finds itself, by field: the document would not have what is typed. */
export type OwnFaults<Input> = { [Field in keyof Input]?: string[] }

/** some tells whether there are any. */
export const some = (faults: Record<string, string[] | undefined>) => Object.values(faults).some((all) => all !== undefined && all.length > 0)

/** base64 is UTF-8 text in base64. */
export const base64 = (text: string) => btoa(String.fromCharCode(...new TextEncoder().encode(text)))

/** lacking are those of some fields in which nothing is typed. */
const lacking = (fields: [string, string][]) => fields.filter(([, typed]) => typed.trim() === '').map(([what]) => what)

export interface ProviderInput {
  project: string
  name: string
  provider: string
  domains: string
  policy: string
  home: string
  parameters: string
  environment: string
  secrets: string
  servers: string
}

export const emptyProvider: ProviderInput = { project: '', name: '', provider: 'coredns', domains: '', policy: 'sync', home: '', parameters: '', environment: '', secrets: '', servers: '' }

/** providerLacks is what is needed before a provider can be judged. */
export const providerLacks = (input: ProviderInput) => lacking([['a project', input.project], ['a name', input.name], ['a DNS provider', input.provider]])

const list = (text: string) => text.split(/[\s,]+/).filter(Boolean)

/** providerFaults are what the form finds in the fields of a provider. */
export function providerFaults(input: ProviderInput): OwnFaults<ProviderInput> {
  const parameters = lines(input.parameters)
  const shown = ['policy', 'domain-filter'].filter((key) => key in parameters.values).map((key) => `"${key}" has a field of its own`)
  const known = input.home === '' || input.home === builtIn || /^[^/\s]+\/[^/\s]+$/.test(input.home)
  return {
    project: pathFaults(input.project),
    name: pathFaults(input.name),
    home: known ? [] : [`must be ${builtIn}, or a cluster as provider/cluster`],
    parameters: [...parameters.faults, ...shown],
    environment: lines(input.environment).faults,
    secrets: lines(input.secrets).faults,
  }
}

/** builtIn is the home of a provider whose names Signpost writes itself. */
export const builtIn = 'built-in'

/** projectOf is the document of a provider's project, which may not exist yet. */
export const projectOf = (input: ProviderInput): Draft => ({ resource: 'projects', metadata: { name: input.project.trim() }, spec: {} })

/** providerDraft is the document of a provider. A parameter with commas is a list. */
export function providerDraft(input: ProviderInput): Draft {
  const parameters: Record<string, unknown> = { ...lines(input.parameters).values }
  if (list(input.domains).length > 0) parameters['domain-filter'] = list(input.domains)
  if (input.policy) parameters['policy'] = input.policy
  const environment = lines(input.environment).values
  const secrets = Object.entries(lines(input.secrets).values).map(([variable, value]) => ({ environment: variable, value }))
  const [clusterProvider, cluster] = input.home.split('/')
  return {
    resource: `projects/${input.project.trim()}/dns-update-records`,
    metadata: { name: input.name.trim() },
    spec: {
      provider: input.provider.trim(),
      'external-dns-parameters': parameters,
      ...(Object.keys(environment).length > 0 ? { environment } : {}),
      ...(secrets.length > 0 ? { credentials: secrets } : {}),
      ...(input.home === builtIn ? { deployOn: { publisher: builtIn } } : cluster ? { deployOn: { clusterProvider, cluster } } : {}),
      ...(list(input.servers).length > 0 ? { verify: { servers: list(input.servers) } } : {}),
    },
  }
}

/** uses are what a cluster may be for. */
export const uses = [
  ['addresses', 'names may take the addresses of its Services, which Signpost only reads'],
  ['home', 'external-dns may run there'],
  ['apps', 'Signpost may deploy apps there'],
  ['dns', 'Signpost may configure the DNS of its Pods'],
] as const

export interface ClusterInput {
  provider: string
  name: string
  reach: 'kubeconfig' | 'directory'
  kubeconfig: string
  directory: string
  uses: string[]
  labels: string
}

export const emptyCluster: ClusterInput = { provider: '', name: '', reach: 'kubeconfig', kubeconfig: '', directory: '', uses: ['addresses'], labels: '' }

/** clusterLacks is what is needed before a cluster can be judged. */
export const clusterLacks = (input: ClusterInput) => lacking([['a cluster provider', input.provider], ['a name', input.name], [`a ${input.reach}`, input[input.reach]], ['a use', input.uses.join()]])

/** clusterFaults are what the form finds in the fields of a cluster. */
export const clusterFaults = (input: ClusterInput): OwnFaults<ClusterInput> => ({ provider: pathFaults(input.provider), name: pathFaults(input.name), labels: lines(list(input.labels).join('\n')).faults })

/** parentOf is the document of a cluster's provider, which may not exist yet. */
export const parentOf = (input: ClusterInput): Draft => ({ resource: 'cluster-providers', metadata: { name: input.provider.trim() }, spec: {} })

/** clusterDraft is the document of a cluster. */
export function clusterDraft(input: ClusterInput): Draft {
  const labels = pairs(list(input.labels))
  return {
    resource: `cluster-providers/${input.provider.trim()}/clusters`,
    metadata: { name: input.name.trim() },
    spec: {
      ...(input.reach === 'kubeconfig' ? { kubeconfig: base64(input.kubeconfig) } : { directory: input.directory.trim() }),
      uses: input.uses,
      ...(Object.keys(labels).length > 0 ? { labels } : {}),
    },
  }
}
