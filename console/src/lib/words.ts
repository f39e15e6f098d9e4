// The server names flags and requests of its API in its sentences. Users of the console have buttons instead.
const inConsole: [RegExp, string][] = [
  [/unpublishing it with the token of its plan removes it/g, 'to have it go, confirm the plan that unpublishes it'],
  [/an update with the token of a plan removes (it|them)/g, 'to have $1 go, confirm the plan of the group'],
  [/see POST …\/plan\?for=\w+, and confirm it by \?confirm=<token>/g, 'look at its plan, and confirm that'],
  [/see POST …\/plan, and confirm it by \?confirm=<token>/g, 'look at its plan, and confirm that'],
  [/delete it with \?confirm=<token> of its plan \(\?dryRun=true\)/g, 'look at the plan that unpublishes it, and confirm that'],
  [/look at the plan here, and repeat the request with \?confirm=[0-9a-f]+/g, 'look at the plan here, and confirm it'],
  [/plans are allowed: \?dryRun=true/g, 'the plan is shown all the same'],
  [/(confirm (?:it|that)) with (?:the plan's token|the token of its plan)/g, '$1'],
  [/create one first: POST \/v2\/projects\/\S+\/dns-update-records/g, 'make one first, in Publish, A provider'],
  [/(the role \w+)(?: in all projects)?, with \?override=\w+ \(--override \w+\)/g, 'preview without the rule at the failover desk; it needs $1'],
  [/use POST \/v2\/failovers \(signpost drain --override\) to override a rule/g, 'the failover desk can override a rule'],
  [/remove the names with --force \(\?force=true\)/g, 'force it at the failover desk, and the names go'],
  [/(the role \w+)(?: in all projects)?, with --force \(\?force=true\)/g, 'force it at the failover desk; it needs $1'],
  [/([\w*-]+(?:\.[\w*-]+)*) of projects\/([\w-]+)\/names\/\1/g, '$1 of project $2'],
  [/(^|(?<= of ))projects\/[\w-]+\/names\/([\w*-]+(?:\.[\w*-]+)*)/g, '$2'],
  [/\bprojects\/([\w-]+)\/names\/[\w*-]+(?:\.[\w*-]+)*/g, 'project $1'],
  [/\bprojects\/([\w.-]+\/)composite-apps\/([\w.-]+\/[\w.-]+\/)deployment-intent-groups\/([\w-]+(?:\.[\w-]+)*)(?![\w/-])/g, 'group $1$2$3'],
  [/take it (over|back) with \?takeover=([\w./-]*[\w-])/g, 'to take it $1, copy the command (Copy as CLI) and run it with --takeover $2'],
  [/here by \?force=true \(signpost terminate --force\)/g, 'by signpost terminate --force'],
]

const part = '[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?'
// A cluster with a plus anywhere, or those with a slash that have or lack a Service.
const spelling = new RegExp(`(?<![\\w+/=.-])(?!v?\\d+\\.\\d)(${part})\\+(${part})(?![\\w+/=])|(?<=\\bService ${part}/${part} on (?:${part}/${part}, )*)(${part})/(${part})(?![\\w/]|[.-]+[\\w/])`, 'g')

/** clusterPath is a cluster as people write it, provider/cluster. Some answers have a plus in place of the slash. */
export const clusterPath = (cluster: string) => cluster.replace('+', '/')

/** withClusters cuts a sentence into texts, at even places, and paths of clusters, at odd ones. */
export function withClusters(sentence: string): string[] {
  const parts: string[] = []
  let at = 0
  for (const found of sentence.matchAll(spelling)) {
    parts.push(sentence.slice(at, found.index), `${found[1] ?? found[3]}/${found[2] ?? found[4]}`)
    at = found.index + found[0].length
  }
  return [...parts, sentence.slice(at)]
}

const moment = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g

/** withTimes cuts a sentence into texts, at even places, and times, at odd ones. */
export function withTimes(sentence: string): string[] {
  const parts: string[] = []
  let at = 0
  for (const found of sentence.matchAll(moment)) {
    parts.push(sentence.slice(at, found.index), found[0])
    at = found.index + found[0].length
  }
  return [...parts, sentence.slice(at)]
}

/** inWords has a sentence of the server speak of the buttons of the console in place of flags of the API, and spell clusters as the console does. */
export const inWords = (sentence: string) => inConsole.reduce((text, [flag, button]) => text.replace(flag, button), withClusters(sentence).join(''))

const ofNames: Record<string, string> = { instantiate: 'published', update: 'changed', rollback: 'taken back', terminate: 'unpublished' }
const ofOthers: Record<string, string> = { create: 'created', replace: 'changed', delete: 'deleted', instantiate: 'deployed', update: 'deployed anew', rollback: 'rolled back', terminate: 'terminated', drain: 'drained', undrain: 'undrained', abandon: 'abandoned' }

/** done says what an action has done to a document; of what was refused or failed, only what was asked for. */
export function done(action: string, isName: boolean, outcome = ''): string {
  if (['refused', 'failed'].includes(outcome)) return `${action} asked for`
  return (isName && ofNames[action]) || ofOthers[action] || action
}
