import type { DNSName, DNSNameSpec, FieldError } from '../api/types'
import { cli } from './commands'
import { pairs } from './text'

/** NameForm is what a user types to publish a name. */
export interface NameForm {
  project: string
  name: string
  kind: 'service' | 'addresses' | 'cname'
  service: string
  clusters: string[]
  selector: string
  addresses: string
  cname: string
  provider: string
  ttl: string
  policy: 'multivalue' | 'failover' | 'weighted' | 'latency' | 'geo'
  order: string
  weights: string
  regions: string
  locations: string
}

export const emptyForm: NameForm = { project: '', name: '', kind: 'service', service: '', clusters: [], selector: '', addresses: '', cname: '', provider: '', ttl: '', policy: 'multivalue', order: '', weights: '', regions: '', locations: '' }

/** words takes a text apart at commas, spaces and lines. */
export const words = (text: string) => text.split(/[\s,]+/).filter(Boolean)

/** canonical is a host name as the API wants it: lower case, ASCII, without a trailing dot. */
export function canonical(typed: string): string {
  const text = typed.trim().replace(/^https?:\/\/([^/]*).*$/i, '$1').replace(/\.$/, '') // as it was copied from the address bar
  const star = text.startsWith('*.')
  const rest = star ? text.slice(2) : text
  if (/^[\x21-\x7e]*$/.test(rest)) return text.toLowerCase()
  try {
    return (star ? '*.' : '') + new URL(`http://${rest}`).hostname // the browser knows IDNA
  } catch {
    return text
  }
}

/** documentOf is the document that a form describes; from has what the form does not show. */
export function documentOf(form: NameForm, from?: DNSName): DNSName {
  const spec: DNSNameSpec = { ...(from?.spec.scope ? { scope: from.spec.scope } : {}), ...(from?.spec.recordTypes ? { recordTypes: from.spec.recordTypes } : {}), ...(from?.spec.health ? { health: from.spec.health } : {}), ...(from?.spec.records ? { records: from.spec.records } : {}) }
  if (form.kind === 'service') {
    spec.service = form.service.trim()
    spec.clusters = form.selector.trim() ? { selector: pairs(words(form.selector)) } : form.clusters
    if (form.policy !== 'multivalue') {
      spec.routing = {
        policy: form.policy,
        ...(form.policy === 'failover' && words(form.order).length > 0 ? { order: words(form.order) } : {}),
        ...(form.policy === 'weighted' ? { weights: Object.fromEntries(Object.entries(pairs(words(form.weights))).map(([cluster, weight]) => [cluster, Number(weight)])) } : {}),
        ...(form.policy === 'latency' ? { regions: pairs(words(form.regions)) } : {}),
        ...(form.policy === 'geo' ? { locations: Object.fromEntries(Object.entries(pairs(words(form.locations))).map(([cluster, all]) => [cluster, all.split('+').filter(Boolean)])) } : {}),
      }
    }
  }
  if (form.kind === 'addresses') spec.addresses = words(form.addresses)
  if (form.kind === 'cname') spec.cname = form.cname.trim()
  if (form.provider) spec.provider = form.provider
  if (form.ttl.trim()) spec.ttl = Number(form.ttl)
  return { metadata: { ...(from ? { description: from.metadata.description, userData1: from.metadata.userData1, userData2: from.metadata.userData2 } : {}), name: canonical(form.name) }, spec }
}

/** formOf is the form of a stored name. */
export function formOf(project: string, name: DNSName): NameForm {
  const { spec } = name
  const chosen = spec.clusters
  return {
    ...emptyForm,
    project,
    name: name.metadata.name,
    kind: spec.cname ? 'cname' : spec.addresses ? 'addresses' : 'service',
    service: spec.service ?? '',
    clusters: Array.isArray(chosen) ? chosen : [],
    selector: chosen && !Array.isArray(chosen) ? Object.entries(chosen.selector).map(([k, v]) => `${k}=${v}`).join(', ') : '',
    addresses: (spec.addresses ?? []).join(', '),
    cname: spec.cname ?? '',
    provider: spec.provider ?? '',
    ttl: spec.ttl ? String(spec.ttl) : '',
    policy: spec.routing?.policy ?? 'multivalue',
    order: (spec.routing?.order ?? []).join(', '),
    weights: Object.entries(spec.routing?.weights ?? {}).map(([k, v]) => `${k}=${v}`).join(', '),
    regions: Object.entries(spec.routing?.regions ?? {}).map(([k, v]) => `${k}=${v}`).join(', '),
    locations: Object.entries(spec.routing?.locations ?? {}).map(([k, v]) => `${k}=${v.join('+')}`).join(', '),
  }
}

/** missing are the fields without which there is nothing to plan yet. */
export function missing(form: NameForm): string[] {
  const lacks: [string, boolean][] = [
    ['a project', !form.project],
    ['a host name', !form.name.trim()],
    ['a Service', form.kind === 'service' && !form.service.trim()],
    ['clusters', form.kind === 'service' && form.clusters.length === 0 && !form.selector.trim()],
    ['addresses', form.kind === 'addresses' && words(form.addresses).length === 0],
    ['a host name to lead to', form.kind === 'cname' && !form.cname.trim()],
  ]
  return lacks.filter(([, is]) => is).map(([what]) => what)
}

/** isStrange tells whether a project, which a link may name, is none of those in which the user may publish; not while these are unknown. */
export const isStrange = (project: string, known: string[] | undefined) => project !== '' && known !== undefined && !known.includes(project)

/** own shortens pointers into a document of the store to those into the body, if it is that document. */
export const own = (errors: FieldError[], path: string): FieldError[] => errors.map((e) => (e.pointer.startsWith(`${path}#`) ? { ...e, pointer: e.pointer.slice(path.length + 1) } : e))

/** Faults are those of fields, by the beginning of their pointers, and others. */
export interface Faults {
  of: (field: string) => string[]
  others: FieldError[]
}

/** Typing is what a user types into a form, with what is wrong with it. */
export interface Typing<Form> {
  form: Form
  set: (change: Partial<Form>) => void
  faults: Faults
}

/** faultsOf divides faults into those of fields, by the beginning of their pointers, and others. */
export function faultsOf(errors: FieldError[], fields: string[]): Faults {
  const fits = (e: FieldError, field: string) => e.pointer === field || e.pointer.startsWith(`${field}/`)
  return {
    of: (field) => errors.filter((e) => fits(e, field)).map((e) => e.detail),
    others: errors.filter((e) => !fields.some((field) => fits(e, field))),
  }
}

/** publishCommand publishes the document of a form. */
export function publishCommand(form: NameForm, { metadata, spec }: DNSName): string {
  return cli(
    'publish',
    metadata.name,
    ...(form.kind === 'service' ? ['--service', spec.service ?? ''] : form.kind === 'cname' ? ['--cname', spec.cname ?? ''] : ['--address', (spec.addresses ?? []).join(',')]),
    ...(Array.isArray(spec.clusters) && spec.clusters.length > 0 ? ['--clusters', spec.clusters.join(',')] : []),
    ...(form.kind === 'service' && form.selector ? ['--selector', words(form.selector).join(',')] : []),
    ...(spec.provider ? ['--provider', spec.provider] : []),
    ...(spec.ttl ? ['--ttl', String(spec.ttl)] : []),
    '--project',
    form.project,
  )
}
