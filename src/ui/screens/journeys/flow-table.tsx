import type { Journeys } from "../../../domain/insight.ts"
import { DataTable } from "../../parts/data-table.tsx"
import { exact, NOTHING } from "../../text/format.ts"
import { columnName, nodeName } from "./flow.tsx"

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
        { id: "visits", label: "Visits", number: true, cell: ({ visits }) => (visits === undefined ? NOTHING : exact(visits)) },
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
