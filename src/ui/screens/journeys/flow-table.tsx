import type { Journeys } from "../../../domain/insight.ts"
import { exact, NOTHING } from "../../format.ts"
import { DataTable } from "../../parts/data-table.tsx"
import { columnName, nodeName } from "./flow.tsx"

interface Row {
  key: string
  step: string
  from: string
  to: string
  visits: number | undefined
}

/** The same as text: who went from where to where, and who ended there. In end mode `from` is where they came to. */
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
                to: mode === "start" ? "Left the site" : "Came to the site",
                visits,
              },
            },
          ],
    ),
  )
  return [...went, ...ended].sort((a, b) => a.column - b.column || (b.row.visits ?? 0) - (a.row.visits ?? 0)).map(({ row }) => row)
}
