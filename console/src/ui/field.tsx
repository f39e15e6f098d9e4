import type { ComponentChildren, ComponentProps } from 'preact'
import { useId } from 'preact/hooks'
import { inWords } from '../lib/words'
import { Text } from './basics'

interface FieldProps {
  label: string
  hint?: string
  faults?: string[]
}

interface TextProps extends FieldProps {
  value: string
  set: (typed: string) => void
}

/** Field is a control with its label, what to write there, and its faults beside it. */
export function Field({ label, hint, faults = [], children }: FieldProps & { children: (props: { id: string; 'aria-describedby': string; 'aria-invalid': boolean }) => ComponentChildren }) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>
        <span>{label}</span>
      </label>
      {children({ id, 'aria-describedby': `${id}-more`, 'aria-invalid': faults.length > 0 })}
      <div id={`${id}-more`} aria-live="polite">
        {faults.length > 0 ? (
          faults.map((f, i) => (
            <p key={i} class="error">
              ✕ <Text>{inWords(f)}</Text>
            </p>
          ))
        ) : hint ? (
          <p class="muted small">{hint}</p>
        ) : null}
      </div>
    </div>
  )
}

/** TextField is a field with a line of text, which may be one of the offers. */
export function TextField({ label, hint, faults, set, offers, ...input }: TextProps & { offers?: string[]; list?: string } & Omit<ComponentProps<'input'>, 'label' | 'list'>) {
  return (
    <Field label={label} hint={hint} faults={faults}>
      {(p) => (
        <>
          <input {...p} {...input} onInput={(e) => set(e.currentTarget.value)} />
          {offers && (
            <datalist id={input.list}>
              {offers.map((offer) => (
                <option key={offer} value={offer} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  )
}

/** AreaField is a field with lines of text. */
export function AreaField({ label, hint, faults, set, ...area }: TextProps & Omit<ComponentProps<'textarea'>, 'label'>) {
  return (
    <Field label={label} hint={hint} faults={faults}>
      {(p) => <textarea {...p} spellcheck={false} {...area} onInput={(e) => set(e.currentTarget.value)} />}
    </Field>
  )
}
