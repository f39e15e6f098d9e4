import { useEffect, useRef, useState } from 'preact/hooks'
import type { NameOwner } from '../api/types'
import { chainOf, layout } from '../lib/chain'
import { clip, visible } from '../lib/text'
import { marks } from './basics'

const words = { good: 'in order', bad: 'wrong', wait: 'under way', note: '', unknown: 'not known', plain: '' }

/** ChainView is the way of a name as a picture. The tables below it have the same facts. */
export function ChainView({ owner }: { owner: NameOwner }) {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(960)
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)))
    if (ref.current) observer.observe(ref.current)
    return () => observer.disconnect()
  }, [])
  const chain = chainOf(owner)
  const picture = layout(chain, Math.max(width, 240))
  const story = chain.nodes.map((n) => `${n.title}, ${n.lines.join(', ')}${words[n.tone] ? `: ${words[n.tone]}` : ''}`).join('. ')
  return (
    <div class="chain" ref={ref}>
      <svg width={picture.width} height={picture.height} viewBox={`0 0 ${picture.width} ${picture.height}`} role="img" aria-label={`The way of the name. ${visible(clip(story, 1500))}`}>
        {picture.heads.map((h) => (
          <text key={h.text} class="head" x={h.x} y={h.y}>
            {h.text}
          </text>
        ))}
        {picture.lines.map((line, i) => (
          <path key={i} class={`edge ${line.tone}`} d={line.d} />
        ))}
        {picture.nodes.map((n) => {
          const room = Math.floor((n.width - 24) / 7.2)
          return (
            <g key={n.id} class={`node ${n.tone}`} transform={`translate(${n.x} ${n.y})`}>
              <title>{visible([n.title, ...n.lines].join('\n'))}</title>
              <rect width={n.width} height={n.height} rx="2" />
              <rect class="side" width="4" height={n.height} rx="2" />
              <text class="title" x="14" y="21">
                {visible(clip(n.title, Math.floor((n.width - 42) / 8.8)))}
              </text>
              {n.lines.slice(0, 2).map((line, i) => (
                <text key={i} class="line" x="14" y={38 + i * 15}>
                  {visible(clip(line, room + 1))}
                </text>
              ))}
              <text class="mark" x={n.width - 10} y="20" text-anchor="end">
                {n.tone === 'plain' ? '' : marks[n.tone]}
              </text>
            </g>
          )
        })}
      </svg>
    </div>
  )
}
