import type { ComponentChildren } from "preact"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import type { Journeys } from "../../../domain/journey.ts"
import { useMedia } from "../../browser/hooks.ts"
import { DataTable } from "../../parts/data-table.tsx"
import { counted, exact, NO_VALUE, percent, short } from "../../text/format.ts"
import { TruncatedText, visible } from "../../text/safe-text.tsx"
import { type Box, boxAfter, flowLayout } from "./flow-layout.ts"
import { itemOfNode, itemText, type JourneyNode, type JourneyQuery } from "./journey-query.ts"

interface FlowProps {
  journeys: Journeys
  pins: JourneyQuery["pins"]
  /** Called on Enter or a click on a node. */
  onNode(node: JourneyNode, column: number): void
}

/** Returns the name of a column: the chosen page, or the number of steps from it. */
export const columnName = (column: number, mode: Journeys["mode"]): string =>
  column === 0
    ? mode === "start"
      ? "Start"
      : "End"
    : `${column} ${column === 1 ? "step" : "steps"} ${mode === "start" ? "later" : "earlier"}`

export const nodeName = ({ kind, page }: JourneyNode): string =>
  kind === "other" ? "Other pages" : kind === "exit" ? "Left the site" : kind === "entry" ? "Entered the site" : visible(page)

/**
 * Renders the journeys as a tree grid: a row for each rank, a cell for each step. It is one tab stop; arrow keys move between the
 * nodes. The bands are decoration; the table view has the same data.
 */
export function Flow({ journeys, pins, onNode }: FlowProps) {
  const { columns, mode } = journeys
  const isNarrow = useMedia("(max-width: 767px)")
  const layout = useMemo(() => flowLayout(journeys, isNarrow), [journeys, isNarrow])
  const [here, setHere] = useState<Pick<Box, "column" | "row">>({ column: 0, row: 0 })
  const grid = useRef<HTMLDivElement>(null)
  const current = layout.boxes[here.column]?.[here.row] ? here : { column: 0, row: 0 }
  const rows = Array.from({ length: Math.max(...columns.map((nodes) => nodes.length)) }, (_, row) => row)
  // Columns from left to right on the screen.
  const order = columns.map((_, column) => column)
  if (mode === "end") order.reverse()
  const move = (event: KeyboardEvent) => {
    const next = boxAfter(layout, current, event.key, mode)
    if (!next) return
    event.preventDefault()
    setHere(next)
    grid.current?.querySelector<HTMLElement>(`[data-node="${next.column}-${next.row}"]`)?.focus()
  }
  const wrap = useRef<HTMLDivElement>(null)
  // The chosen page is in sight: in end mode it is in the last column.
  useEffect(() => wrap.current?.scrollTo({ left: mode === "end" ? layout.width : 0 }), [layout, mode])
  return (
    <div class="flow-wrap" ref={wrap}>
      <div
        class="flow"
        role="treegrid"
        aria-label="Journeys by step"
        ref={grid}
        onKeyDown={move}
        style={{ width: `${layout.width}px`, height: `${layout.height + HEAD}px` }}
      >
        <div role="row" aria-level={1}>
          {order.map((column) => (
            <span
              key={column}
              role="columnheader"
              class="flow-head"
              style={{ left: `${layout.boxes[column]?.[0]?.x ?? 0}px`, width: `${layout.columnWidth}px` }}
            >
              {columnName(column, mode)}
            </span>
          ))}
        </div>
        <svg class="flow-bands" width={layout.width} height={layout.height} aria-hidden="true" focusable="false">
          {layout.bands.map(({ column, from, to, path }) => (
            <path key={`${column}-${from}-${to}`} d={path} />
          ))}
        </svg>
        {rows.map((row) => (
          <div role="row" aria-level={1} key={row}>
            {order.flatMap((column) => {
              const node = columns[column]?.[row]
              const box = layout.boxes[column]?.[row]
              if (!node || !box) return []
              const isPinned = pins.some((pin) => pin.column === column && itemText(pin) === node.page)
              return [
                <span key={column} role="gridcell" aria-selected={isPinned}>
                  <button
                    type="button"
                    class="flow-node"
                    data-kind={node.kind}
                    data-pinned={isPinned || undefined}
                    data-node={`${column}-${row}`}
                    tabIndex={current.column === column && current.row === row ? 0 : -1}
                    style={{ left: `${box.x}px`, top: `${box.y + HEAD}px`, height: `${box.height}px`, width: `${layout.columnWidth}px` }}
                    onFocus={() => setHere({ column, row })}
                    onClick={() => onNode(node, column)}
                  >
                    <span class="flow-bar" style={{ height: `${box.bar}px` }} />
                    <span class="flow-text">{itemOfNode(node) ? <TruncatedText text={node.page} /> : nodeName(node)}</span>
                    <span class="flow-count" title={counted(node.visits, "visit")}>
                      <Unseen>, </Unseen>
                      <strong>{short(node.visits)}</strong>
                      <Unseen> visits,</Unseen> <span class="quiet">{percent(node.conversion_rate)}</span>
                      <Unseen>, {columnName(column, mode)}</Unseen>
                    </span>
                  </button>
                </span>,
              ]
            })}
          </div>
        ))}
      </div>
    </div>
  )
}

/** Hides text visually that the layout already conveys. */
const Unseen = ({ children }: { children: ComponentChildren }) => <span class="visually-hidden">{children}</span>

const HEAD = 28

interface Row {
  key: string
  step: string
  from: string
  to: string
  visits: number | undefined
}

/** Shows the journeys as a table of transitions and exits. In end mode `from` is the page that visits arrived at. */
export function FlowTable({ journeys }: { journeys: Journeys }) {
  const { mode } = journeys
  const isStart = mode === "start"
  return (
    <DataTable
      caption="Journeys by step"
      rows={rowsOf(journeys)}
      keyOf={({ key }) => key}
      columns={[
        { id: "step", label: "Step", cell: ({ step }) => step },
        { id: "from", label: isStart ? "From" : "To", cell: ({ from }) => from },
        { id: "to", label: isStart ? "To" : "From", cell: ({ to }) => to },
        { id: "visits", label: "Visits", number: true, cell: ({ visits }) => (visits === undefined ? NO_VALUE : exact(visits)) },
      ]}
    />
  )
}

function rowsOf({ columns, edges, dropped, mode }: Journeys): Row[] {
  const name = (column: number, row: number): string => {
    const node = columns[column]?.[row]
    return node ? nodeName(node) : ""
  }
  const went = edges.map(({ column, from_node, to_node, visits }) => ({
    column,
    row: {
      key: `${column} ${from_node} ${to_node}`,
      step: columnName(column + 1, mode),
      from: name(column, from_node),
      to: name(column + 1, to_node),
      visits,
    },
  }))
  const ended = dropped.flatMap((nodes, column) =>
    nodes.flatMap((visits, node) =>
      visits === 0
        ? []
        : [
            {
              column,
              row: {
                key: `${column} ${node} end`,
                step: columnName(column + 1, mode),
                from: name(column, node),
                to: mode === "start" ? "Left the site" : "Entered the site",
                visits,
              },
            },
          ],
    ),
  )
  return [...went, ...ended].sort((a, b) => a.column - b.column || (b.row.visits ?? 0) - (a.row.visits ?? 0)).map(({ row }) => row)
}
