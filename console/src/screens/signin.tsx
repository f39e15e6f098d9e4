import { useState } from 'preact/hooks'
import { canRedirect, redirect } from '../api/oidc'
import { needed, setBearer, settings } from '../api/session'
import { Dialog } from '../ui/basics'

/** SignIn asks who the user is. What lies behind it stays as it is. */
export function SignIn({ onToken }: { onToken: () => void }) {
  const [token, setToken] = useState('')
  const why = needed.value?.why
  const s = settings.value
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    setBearer(token.trim())
    setToken('')
    needed.value = null
    onToken()
  }
  return (
    <Dialog title="Sign in to Signpost">
      {why && (
        <p class="notice" role="alert">
          {why}
        </p>
      )}
      {canRedirect(s) && (
        <p>
          <button type="button" class="primary wide" onClick={() => void redirect(s)}>
            Sign in at {new URL(s.issuer).host}
          </button>
        </p>
      )}
      {s.fault && <p class="notice">{s.fault}</p>}
      <form onSubmit={submit} class="stack">
        <label>
          <span>Token</span>
          <input type="password" autocomplete="off" spellcheck={false} required value={token} onInput={(e) => setToken(e.currentTarget.value)} autofocus={!canRedirect(s)} />
        </label>
        <p class="muted small">A token of the server's token file, or of its issuer. It stays in the memory of this tab: a reload forgets it. With a client certificate, reload instead.</p>
        <button type="submit" class={canRedirect(s) ? 'wide' : 'primary wide'}>
          Sign in with the token
        </button>
      </form>
    </Dialog>
  )
}
