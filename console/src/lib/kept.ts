import { emptyForm, type NameForm } from './form'

const place = 'signpost.draft'

/** keptForm is what was typed before a reload or a sign-in at the issuer took the page away. key is of which name. */
export function keptForm(key: string): NameForm | undefined {
  try {
    const { key: of, form } = JSON.parse(sessionStorage.getItem(place) ?? '{}') as { key?: string; form?: NameForm }
    return of === key ? { ...emptyForm, ...form } : undefined
  } catch {
    return undefined
  }
}

/** keepForm keeps what is typed, in place of what was kept. */
export const keepForm = (key: string, form: NameForm) => sessionStorage.setItem(place, JSON.stringify({ key, form }))

/** dropForm forgets what was typed. */
export const dropForm = () => sessionStorage.removeItem(place)
