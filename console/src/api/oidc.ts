import * as oauth from 'oauth4webapi'
import type { Settings } from './session'

const key = 'signpost.signin'

interface Pending {
  state: string
  verifier: string
  nonce: string
  hash: string
}

const redirectURI = () => location.origin + location.pathname

/** Issuer is where users sign in. */
type Issuer = Required<Pick<Settings, 'issuer' | 'clientID' | 'authorizationEndpoint' | 'tokenEndpoint'>> & Settings

const issuerOf = (s: Issuer): oauth.AuthorizationServer => ({
  issuer: s.issuer,
  authorization_endpoint: s.authorizationEndpoint,
  token_endpoint: s.tokenEndpoint,
})

/** canRedirect tells whether users sign in at an issuer. */
export const canRedirect = (s: Settings): s is Issuer => Boolean(s.issuer && s.clientID && s.authorizationEndpoint && s.tokenEndpoint)

/** redirect leaves for the issuer: authorization code with PKCE. State and verifier wait in the session. */
export async function redirect(s: Issuer): Promise<void> {
  const pending: Pending = { state: oauth.generateRandomState(), verifier: oauth.generateRandomCodeVerifier(), nonce: oauth.generateRandomNonce(), hash: location.hash }
  sessionStorage.setItem(key, JSON.stringify(pending))
  const to = new URL(s.authorizationEndpoint)
  to.searchParams.set('client_id', s.clientID)
  to.searchParams.set('redirect_uri', redirectURI())
  to.searchParams.set('response_type', 'code')
  to.searchParams.set('scope', 'openid profile email')
  to.searchParams.set('state', pending.state)
  to.searchParams.set('nonce', pending.nonce)
  to.searchParams.set('code_challenge', await oauth.calculatePKCECodeChallenge(pending.verifier))
  to.searchParams.set('code_challenge_method', 'S256')
  location.assign(to)
}

/** returning tells whether the issuer has sent the user back. */
export const returning = () => sessionStorage.getItem(key) !== null && /[?&](code|error)=/.test(location.search)

/** finish makes a token of the code that the issuer sent back, and restores the address of before. */
export async function finish(s: Settings): Promise<string> {
  if (!canRedirect(s)) throw new Error('the server has no issuer')
  const pending = JSON.parse(sessionStorage.getItem(key) ?? '{}') as Pending
  sessionStorage.removeItem(key)
  const here = new URL(location.href)
  history.replaceState(null, '', redirectURI() + pending.hash)
  const as = issuerOf(s)
  const client: oauth.Client = { client_id: s.clientID }
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so that it stands out
  const insecure = { [oauth.allowInsecureRequests]: new URL(s.tokenEndpoint).protocol === 'http:' } // which the server allows on loopback alone
  const parameters = oauth.validateAuthResponse(as, client, here, pending.state)
  const response = await oauth.authorizationCodeGrantRequest(as, client, oauth.None(), parameters, redirectURI(), pending.verifier, insecure)
  const got = await oauth.processAuthorizationCodeResponse(as, client, response, { expectedNonce: pending.nonce, requireIdToken: false })
  return choose(got.access_token, got.id_token, s.audiences ?? [])
}

/** choose gives the token that is for the server: the access token, if it says so, else the ID token. */
export function choose(access: string, id: string | undefined, audiences: string[]): string {
  return !id || audienceOf(access).some((one) => audiences.includes(one)) ? access : id
}

function audienceOf(token: string): string[] {
  try {
    const body = (token.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/')
    const aud = (JSON.parse(atob(body)) as { aud?: string | string[] }).aud
    return aud === undefined ? [] : Array.isArray(aud) ? aud : [aud]
  } catch {
    return []
  }
}
