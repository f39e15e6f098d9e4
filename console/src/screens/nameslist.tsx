import { useVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useRef } from 'preact/hooks'
import type { FoundName } from '../api/types'
import { clip, visible } from '../lib/text'
import { inWords } from '../lib/words'
import { Badge, stateTone, TruthBadge } from '../ui/basics'
import { NameLink, OwnerLink } from '../ui/subject'

const columns = ['Name', 'Owner', 'Provider', 'State', 'Published', 'Answered', 'Reason']
const ofReason = 500 // characters in a row; the page of the name has all

/** heightOf guesses the height of a row, until it is measured. */
const heightOf = (row: FoundName | undefined, narrow: boolean) => (narrow ? 80 : 41) + (row?.reason ? 20 * Math.ceil(Math.min(row.reason.length, ofReason) / (narrow ? 48 : 170)) : 0)

/** List shows only the rows that are in sight, and asks for more at its end. Each row is as high as its reason needs. */
export function List({ rows, total, more }: { rows: FoundName[]; total: number; more: () => void }) {
  const box = useRef<HTMLDivElement>(null)
  const narrow = matchMedia('(max-width: 760px)').matches
  const keyOf = useCallback((i: number) => (rows[i] ? `${rows[i].name} ${rows[i].owner} ${rows[i].provider} ${rows[i].scope}` : i), [rows])
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => box.current, getItemKey: keyOf, estimateSize: (i) => heightOf(rows[i], narrow), overscan: 12 })
  const shown = virtual.getVirtualItems()
  const end = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (end >= rows.length - 20 && rows.length < total) more()
  }, [end, rows.length, total])
  return (
    <div class="list" role="table" aria-label="Names" aria-rowcount={total + 1}>
      <div role="rowgroup" class="listhead">
        <div role="row" class="row" aria-rowindex={1}>
          {columns.map((h) => (
            <span role="columnheader" key={h} class={h === 'Reason' ? 'hidden' : undefined}>
              {h}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" class="listbody" ref={box} tabIndex={0} aria-label="Rows of names">
        <div role="presentation" style={{ height: `${virtual.getTotalSize()}px` }} class="space">
          {shown.map((item) => {
            const row = rows[item.index]
            return (
              row && (
                <div role="row" class="row" key={item.key} ref={virtual.measureElement} data-index={item.index} aria-rowindex={item.index + 2} style={{ transform: `translateY(${item.start}px)` }}>
                  <Cells row={row} />
                </div>
              )
            )
          })}
        </div>
      </div>
    </div>
  )
}

/** Cells are what a row says of a name. */
function Cells({ row }: { row: FoundName }) {
  return (
    <>
      <span role="cell" class="strong">
        <NameLink name={row.name} />
      </span>
      <span role="cell">
        <OwnerLink path={row.owner} />
      </span>
      <span role="cell">
        {row.provider} {row.scope === 'cluster' && <span class="muted">in clusters</span>}
      </span>
      <span role="cell" class={row.state === 'Instantiated' ? 'settled' : undefined}>
        <Badge tone={stateTone(row.state)}>{row.state}</Badge>
      </span>
      <span role="cell">
        <TruthBadge of="published" is={row.published} />
      </span>
      <span role="cell">
        <TruthBadge of="verified" is={row.verified} />
      </span>
      <span role="cell" class="reason">
        {row.reason && <bdi>{visible(clip(inWords(row.reason), ofReason))}</bdi>}
      </span>
    </>
  )
}
