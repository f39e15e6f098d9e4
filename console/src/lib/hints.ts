/** granters says who can give a user a role. */
export const granters = 'The administrator of the server can grant it, by its token file, its policy file or the issuer of your token.'

const ofReads: Record<number, string> = {
  0: 'The console tries again by itself.',
  403: `Your role does not allow this. ${granters}`,
  404: 'There is no such thing, or you may not see it.',
  429: 'There are too many requests at the moment. Try again in some seconds.',
  503: 'The server is not ready. The console tries again by itself.',
}

const again = 'The console does not send it again: look at the present state before you do.'

const ofActs: Record<number, string> = {
  0: `It may have done this before the connection was lost, or not. ${again}`,
  404: 'Nothing was done: there is no such thing, or you may not see it.',
  409: 'Nothing was done.',
  429: 'Nothing was done: there are too many requests at the moment. Try again in some seconds.',
}

/** hintOf says what a refusal means, and what to do. acted is of a request that was to change something: nothing repeats it. */
export function hintOf(status: number, acted: boolean): string {
  if (!acted) return ofReads[status] ?? ''
  return ofActs[status] ?? (status >= 500 ? `It is not known whether this was done. ${again}` : (ofReads[status] ?? ''))
}
