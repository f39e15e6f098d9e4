import type { ComponentChildren } from 'preact'
import { Badge, Section, type Tone } from './basics'

interface PartProps {
  title: string
  n: number
  tone: Tone
  means: string
  advice: string
  children: ComponentChildren
  id: string
}

/** Part is a kind of trouble: what it means if there is none, and else what to do. */
export function Part({ title, n, tone, means, advice, children, id }: PartProps) {
  return (
    <div class={n > 0 ? 'card' : 'card calm'}>
      <Section title={title} id={id} aside={<Badge tone={n > 0 ? tone : 'good'}>{n > 0 ? n.toLocaleString('en') : 'none'}</Badge>}>
        {n > 0 ? (
          <>
            <p>{advice}</p>
            {children}
          </>
        ) : (
          <p class="muted small">{means}</p>
        )}
      </Section>
    </div>
  )
}
