import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { inWords } from '../lib/words'
import { Text } from './basics'

/** Field is a control with its label, what to write there, and its faults beside it. */
export function Field({ label, hint, faults = [], children }: { label: string; hint?: string; faults?: string[]; children: (props: { id: string; 'aria-describedby': string; 'aria-invalid': boolean }) => ComponentChildren }) {
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
