// The server names flags and requests of its API in its sentences. Users of the console have buttons instead.
const inConsole: [RegExp, string][] = [
  [/see POST …\/plan\?for=\w+, and confirm it by \?confirm=<token>/g, 'look at its plan, and confirm that'],
  [/see POST …\/plan, and confirm it by \?confirm=<token>/g, 'look at its plan, and confirm that'],
  [/delete it with \?confirm=<token> of its plan \(\?dryRun=true\)/g, 'look at the plan that unpublishes it, and confirm that'],
  [/look at the plan here, and repeat the request with \?confirm=[0-9a-f]+/g, 'look at the plan here, and confirm it'],
  [/plans are allowed: \?dryRun=true/g, 'the plan is shown all the same'],
  [/create one first: POST \/v2\/projects\/\S+\/dns-update-records/g, 'make one first, in Publish, A provider'],
  [/, with \?override=\w+ \(--override \w+\)/g, ', by the button that previews without the rule'],
  [/use POST \/v2\/failovers \(signpost drain --override\) to override a rule/g, 'the failover desk can override a rule'],
  [/remove the names with --force \(\?force=true\)/g, 'force it at the failover desk, and the names go'],
  [/, with --force \(\?force=true\)/g, ', by the box to tick'],
  [/here by \?force=true \(signpost terminate --force\)/g, 'by signpost terminate --force'],
]

/** inWords has a sentence of the server speak of the buttons of the console in place of flags of the API. */
export const inWords = (sentence: string) => inConsole.reduce((text, [flag, button]) => text.replace(flag, button), sentence)
